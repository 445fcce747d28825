// A verdict is about what the reviewer saw: the files of the diff are held against those of the review, lines and all.
import type { ReviewFile, ReviewHunk } from '../api/types';
import { headLine, pathOf, type FilePatch } from './patch';
import { keyOf } from './paths';

export type FileOfReview = Pick<ReviewFile, 'path' | 'path_base64' | 'old_path' | 'old_path_base64' | 'change' | 'insertions' | 'deletions' | 'binary'>;
export type HunkOfReview = Pick<ReviewHunk, 'kind' | 'old_start' | 'old_lines' | 'new_start' | 'new_lines'>;

/** `patch`: nothing when the diff has none that is this file's for sure. */
export type Paired = { file: FileOfReview; patch?: FilePatch };

/** Each file of the review with its part of the diff. Both have one order; a path that changed its type has two parts. */
export function paired(patches: FilePatch[], files: FileOfReview[], hunksOf: (key: string) => HunkOfReview[]): Paired[] {
  const parts: FilePatch[][] = [];
  const halves = new Map<string, FilePatch[]>();
  for (const patch of patches) {
    const half = headLine(patch, 'new file mode ') !== undefined || headLine(patch, 'deleted file mode ') !== undefined;
    const path = pathOf(patch);
    const first = half ? halves.get(path) : undefined;
    if (first) first.push(patch);
    else {
      const its = [patch];
      if (half) halves.set(path, its);
      parts.push(its);
    }
  }
  // With one too many or too few nothing says which one it is.
  if (parts.length !== files.length) return files.map((file) => ({ file }));
  return files.map((file, i) => {
    const patch = whole(parts[i]!);
    const same = pathOf(parts[i]![0]!) === keyOf(file) && parts[i]!.length === (file.change === 'retyped' ? 2 : 1);
    return same && patch.sound && fits(patch, file, hunksOf(keyOf(file))) ? { file, patch } : { file };
  });
}

/** What was taken away and what came in its place, as one hunk. */
function whole([first, second, ...more]: FilePatch[]): FilePatch {
  if (!second) return first!;
  const hunks = [...first!.hunks, ...second.hunks];
  const [old, now] = [hunks.find((hunk) => hunk.deletions > 0), hunks.find((hunk) => hunk.insertions > 0)];
  const sound = first!.sound && second.sound && more.length === 0 && hunks.length <= 2;
  const head = first!.head.split('\n').filter((line) => !/^((new|deleted) file mode|index) /.test(line)).join('\n');
  if (!old || !now) return { ...first!, head, text: head + hunks.map((hunk) => hunk.text).join(''), hunks, sound };
  const text = `@@ -${old.old_start},${old.old_lines} +${now.new_start},${now.new_lines} @@\n${bodyOf(old.text)}${bodyOf(now.text)}`;
  const both = { old_start: old.old_start, old_lines: old.old_lines, new_start: now.new_start, new_lines: now.new_lines, text, insertions: now.insertions, deletions: old.deletions };
  return { text: head + text, head, hunks: [both], sound };
}

const bodyOf = (hunk: string) => hunk.slice(hunk.indexOf('\n') + 1);

/** Hunks that are decided one by one must all be there, and no others; of a file that is taken as a whole the lines are counted. */
function fits(patch: FilePatch, file: FileOfReview, hunks: HunkOfReview[]): boolean {
  const sum = (what: 'insertions' | 'deletions') => patch.hunks.reduce((total, hunk) => total + hunk[what], 0);
  if (!file.binary && (sum('insertions') !== file.insertions || sum('deletions') !== file.deletions)) return false;
  const texts = hunks.filter((hunk) => hunk.kind === 'text');
  if (texts.length === 0) return hunks.length > 0 || patch.hunks.length === 0;
  const equal = (a: HunkOfReview, b: FilePatch['hunks'][number] | undefined) =>
    a.old_start === b?.old_start && a.old_lines === b.old_lines && a.new_start === b.new_start && a.new_lines === b.new_lines;
  return texts.length === patch.hunks.length && texts.every((hunk, i) => equal(hunk, patch.hunks[i]));
}
