import { filePatches, headLine, type FilePatch } from './patch';

export type FileStat = { patch: FilePatch; insertions: number; deletions: number; word: string };

/** What each file of a patch gains and loses, for a patch that comes without a list of files. */
export function patchStats(diff: string): FileStat[] {
  return filePatches(diff).map((patch) => {
    const sum = (what: 'insertions' | 'deletions') => patch.hunks.reduce((total, hunk) => total + hunk[what], 0);
    const says = (...starts: string[]) => starts.some((start) => headLine(patch, start) !== undefined);
    const word = says('new file') ? 'new' : says('deleted file') ? 'deleted' : says('rename from') ? 'renamed' : says('GIT binary', 'Binary files') ? 'binary' : '';
    return { patch, insertions: sum('insertions'), deletions: sum('deletions'), word };
  });
}
