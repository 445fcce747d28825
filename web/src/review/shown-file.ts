import { processFile, type FileDiffMetadata } from '@pierre/diffs';
import { foldedBecause } from './folding';
import { languageOf } from './language';
import { lineEnds } from './line-ends';
import { paired, type FileOfReview, type HunkOfReview } from './pairing';
import { filePatches, pathOf, type FilePatch } from './patch';
import { keyOf, nameOf, oldOf } from './paths';
import { visiblePatch } from './visible';
import { withoutWhitespace } from './whitespace';

/** One file of a diff as it is shown. */
export type ShownFile = {
  /** Its key (paths.ts). */
  path: string;
  diff: FileDiffMetadata;
  /** The lines as they are, where what is shown has marks in them (visible.ts). */
  real?: FileDiffMetadata;
  /** The marks. */
  marks: string[];
  /** How the ends of its lines change, in words (line-ends.ts). */
  line_ends?: string;
  /** What the diff says of it cannot be trusted: nothing is shown, and nothing decided by it. */
  unsafe: boolean;
  insertions: number;
  deletions: number;
  folded_because?: string;
};

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

const parse = (patch: string, key: string) => processFile(patch, { isGitDiff: true, cacheKey: key, disableLineMatching: false });

/** `key` names the diff: what was highlighted once is not highlighted again. */
export function shownFile(path: string, patch: string, key: string, file?: FileOfReview): ShownFile {
  const { text, marks } = visiblePatch(patch);
  const diff = parse(text, key) ?? empty(path);
  const name = nameOf(path);
  diff.name = path;
  diff.lang = languageOf(name);
  if (file && keyOf(oldOf(file)) !== path) diff.prevName = keyOf(oldOf(file));
  const lines = (side: 'additionLines' | 'deletionLines') => diff.hunks.reduce((sum, hunk) => sum + hunk[side], 0);
  const real = marks.length ? parse(patch, `${key}:real`) : undefined;
  return { path, diff, ...(real && { real }), marks, line_ends: lineEnds(patch), unsafe: false, insertions: lines('additionLines'), deletions: lines('deletionLines'), folded_because: foldedBecause({ path: name }, patch) };
}

/** Says that there is a change, and shows nothing of it. */
const unsafeFile = (path: string): ShownFile => ({ path, diff: empty(path), marks: [], unsafe: true, insertions: 0, deletions: 0 });

/** What draws the lines has found the same ones. */
function agrees({ diff, insertions, deletions }: ShownFile, { hunks }: FilePatch): boolean {
  const sum = (what: 'insertions' | 'deletions') => hunks.reduce((total, hunk) => total + hunk[what], 0);
  return diff.hunks.length === hunks.length && insertions === sum('insertions') && deletions === sum('deletions');
}

type Of = { review?: { files: FileOfReview[]; hunksOf: (key: string) => HunkOfReview[] }; whitespace: boolean };

/** The diff of a run by file. `review`: what it must agree with; the diff between two runs comes without. */
export function shownFiles(text: string, key: string, { review, whitespace }: Of): ShownFile[] {
  const patches = filePatches(text);
  const pairs: { file?: FileOfReview; patch?: FilePatch }[] = review ? paired(patches, review.files, review.hunksOf) : patches.map((patch) => ({ patch }));
  return pairs.flatMap(({ file, patch }, i) => {
    const path = file ? keyOf(file) : patch ? pathOf(patch) : '';
    if (!patch?.sound) return [unsafeFile(path)];
    const shown = whitespace ? patch.text : withoutWhitespace(patch);
    if (shown === undefined) return [];
    const made = shownFile(path, shown, `${key}:${whitespace ? '' : 'w:'}${i}`, file);
    return [whitespace && !agrees(made, patch) ? unsafeFile(path) : made];
  });
}
