import type { ReviewFile, ReviewHunk } from '../api/types';

/** "accepted", "rejected", "took back". */
export const verdictWords = (hunk: Pick<ReviewHunk, 'verdict'>): string => (hunk.verdict === 'accept' ? 'accepted' : hunk.verdict === 'reject' ? 'rejected' : 'took back');

/** What a change of a whole file is. */
export function wholeWords(file: ReviewFile | undefined): string {
  if (!file) return 'The file as a whole';
  if (file.change === 'added') return 'New file';
  if (file.change === 'deleted') return 'Deleted file';
  if (file.change === 'renamed') return `Renamed from ${file.old_path}`;
  if (file.binary) return 'Changed content';
  if (file.old_mode !== file.new_mode) return `Mode ${file.old_mode} becomes ${file.new_mode}`;
  return 'The file as a whole';
}

/** Where the lines of a comment are. */
export function linesWords({ start_line, end_line, side }: { start_line: number; end_line: number; side: 'base' | 'head' }): string {
  const lines = start_line === end_line ? `line ${start_line}` : `lines ${start_line} to ${end_line}`;
  return side === 'base' ? `${lines} before` : lines;
}
