import type { Review, ReviewHunk } from '../api/types';
import { keyOf } from './paths';

/** The hunks of each file by its key, in the order of the files. */
export function hunksByFile(review: Pick<Review, 'files' | 'hunks'>): Map<string, ReviewHunk[]> {
  const found = new Map<string, ReviewHunk[]>(review.files.map((file) => [keyOf(file), []]));
  for (const hunk of review.hunks) found.get(keyOf(hunk))?.push(hunk);
  return found;
}

const place = (hunks: ReviewHunk[], current: string | undefined) => hunks.findIndex((hunk) => hunk.hunk_id === current);

/** The hunk so many steps on; the first or last at the ends. */
export function stepped(hunks: ReviewHunk[], current: string | undefined, by: 1 | -1): ReviewHunk | undefined {
  const at = place(hunks, current);
  if (at < 0) return by > 0 ? hunks[0] : hunks.at(-1);
  return hunks[Math.max(0, Math.min(hunks.length - 1, at + by))];
}

/** The next one that nobody has decided, beginning again at the top; nothing when all are decided. */
export function nextUndecided(hunks: ReviewHunk[], current: string | undefined): ReviewHunk | undefined {
  const at = place(hunks, current);
  const open = (hunk: ReviewHunk) => hunk.verdict === null && hunk.hunk_id !== current;
  return hunks.slice(at + 1).find(open) ?? hunks.slice(0, at + 1).find(open);
}

/** The path of the file so many steps on. */
export function steppedFile(paths: string[], current: string | undefined, by: 1 | -1): string | undefined {
  const at = current === undefined ? -1 : paths.indexOf(current);
  if (at < 0) return by > 0 ? paths[0] : paths.at(-1);
  return paths[Math.max(0, Math.min(paths.length - 1, at + by))];
}

export type Tally = { decided: number; rejected: number; total: number };

export const tally = (hunks: ReviewHunk[]): Tally => ({
  decided: hunks.filter((hunk) => hunk.verdict !== null).length,
  rejected: hunks.filter((hunk) => hunk.verdict === 'reject').length,
  total: hunks.length,
});
