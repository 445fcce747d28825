import { processFile, type FileDiffMetadata } from '@pierre/diffs';
import type { ReviewFile } from '../api/types';
import { foldedBecause } from './folding';
import { languageOf } from './language';
import { filePatches, pathOf } from './patch';
import { withoutWhitespace } from './whitespace';

/** One file of a diff as it is shown. */
export type ShownFile = { path: string; diff: FileDiffMetadata; insertions: number; deletions: number; folded_because?: string };

type FileOfReview = Pick<ReviewFile, 'path' | 'old_path' | 'change'>;

const empty = (path: string): FileDiffMetadata => ({
  name: path,
  type: 'change',
  hunks: [],
  splitLineCount: 0,
  unifiedLineCount: 0,
  isPartial: true,
  deletionLines: [],
  additionLines: [],
  deletionCharacterCount: 0,
  additionCharacterCount: 0,
});

/** `key` names the diff: what was highlighted once is not highlighted again. */
export function shownFile(path: string, patch: string, key: string, file?: FileOfReview): ShownFile {
  const parsed = processFile(patch, { isGitDiff: true, cacheKey: key, disableLineMatching: false }) ?? empty(path);
  parsed.name = path;
  parsed.lang = languageOf(path);
  if (file && file.old_path !== path) parsed.prevName = file.old_path;
  const lines = (side: 'additionLines' | 'deletionLines') => parsed.hunks.reduce((sum, hunk) => sum + hunk[side], 0);
  return { path, diff: parsed, insertions: lines('additionLines'), deletions: lines('deletionLines'), folded_because: foldedBecause({ path }, patch) };
}

/** The diff of a run by file. `files` are those of its review, in the order of the diff; the diff between two runs comes without. */
export function shownFiles(text: string, key: string, { files, whitespace }: { files?: FileOfReview[]; whitespace: boolean }): ShownFile[] {
  const patches = filePatches(text);
  return patches.flatMap((patch, i) => {
    const file = files?.length === patches.length ? files[i] : undefined;
    const shown = whitespace ? patch.text : withoutWhitespace(patch.text);
    if (shown === undefined) return [];
    return [shownFile(file?.path ?? pathOf(patch), shown, `${key}:${whitespace ? '' : 'w:'}${i}`, file)];
  });
}
