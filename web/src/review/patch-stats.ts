import { filePatches, type FilePatch } from './patch';

export type FileStat = { patch: FilePatch; insertions: number; deletions: number; word: string };

/** What each file of a patch gains and loses, for a patch that comes without a list of files. */
export function patchStats(diff: string): FileStat[] {
  return filePatches(diff).map((patch) => {
    const [head = '', ...hunks] = patch.text.split(/^(?=@@ )/m);
    const lines = hunks.flatMap((hunk) => hunk.split('\n').slice(1));
    const starting = (sign: string) => lines.filter((line) => line.startsWith(sign)).length;
    const says = (words: string) => new RegExp(`^${words}`, 'm').test(head);
    const word = says('new file') ? 'new' : says('deleted file') ? 'deleted' : says('rename from') ? 'renamed' : says('GIT binary|Binary files') ? 'binary' : '';
    return { patch, insertions: starting('+'), deletions: starting('-'), word };
  });
}
