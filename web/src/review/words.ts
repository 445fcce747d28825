import type { ReviewFile, ReviewHunk } from '../api/types';
import { keyOf, nameOf, oldOf } from './paths';

/** "accepted", "rejected", "took back". */
export const verdictWords = (hunk: Pick<ReviewHunk, 'verdict'>): string => (hunk.verdict === 'accept' ? 'accepted' : hunk.verdict === 'reject' ? 'rejected' : 'took back');

type Modes = Pick<ReviewFile, 'old_mode' | 'new_mode'>;

/** What git's mode makes of a file; nothing when it is one like most. */
const kinds: Record<string, string> = { '120000': 'symbolic link', '100755': 'executable file', '160000': 'submodule' };
const kindOf = (mode: string | null) => kinds[mode ?? ''] ?? 'file';
const a = (noun: string) => `${/^[aeiou]/.test(noun) ? 'an' : 'a'} ${noun}`;
const capital = (words: string) => words.charAt(0).toUpperCase() + words.slice(1);

/** What becomes of the file's mode; nothing when it stays, or came or went with the file. */
function modeWords({ old_mode, new_mode }: Modes): string | undefined {
  if (old_mode === new_mode || old_mode === null || new_mode === null) return undefined;
  const [old, now] = [kindOf(old_mode), kindOf(new_mode)];
  if (old === now) return `mode ${old_mode} becomes ${new_mode}`;
  if (old === 'file' && now === 'executable file') return 'becomes executable';
  if (old === 'executable file' && now === 'file') return 'no longer executable';
  return `${old} becomes ${a(now)}`;
}

/** What a change of a whole file is. */
export function wholeWords(file: ReviewFile | undefined): string {
  if (!file) return 'The file as a whole';
  if (file.change === 'added') return `New ${kindOf(file.new_mode)}`;
  if (file.change === 'deleted') return `Deleted ${kindOf(file.old_mode)}`;
  const mode = modeWords(file);
  if (file.change === 'renamed') return [`Renamed from ${nameOf(keyOf(oldOf(file)))}`, mode].filter((words) => words !== undefined).join(', ');
  if (file.change === 'retyped' && mode) return capital(mode);
  if (file.binary) return ['Changed content', mode].filter((words) => words !== undefined).join(', ');
  if (mode) return capital(mode);
  if (file.new_mode === '120000') return 'Symbolic link to another target';
  if (file.new_mode === '160000') return 'Submodule at another commit';
  return 'The file as a whole';
}

/** What must be said of a file beside its name, shortly: what it is when that is unusual, and what becomes of its mode. */
export function kindWords(file: ReviewFile): string | undefined {
  const kind = kindOf(file.new_mode ?? file.old_mode);
  const unusual = kind === 'executable file' ? (file.change === 'added' ? 'executable' : undefined) : kind === 'file' ? undefined : kind;
  return modeWords(file) ?? unusual;
}

/** Where the lines of a comment are. */
export function linesWords({ start_line, end_line, side }: { start_line: number; end_line: number; side: 'base' | 'head' }): string {
  const lines = start_line === end_line ? `line ${start_line}` : `lines ${start_line} to ${end_line}`;
  return side === 'base' ? `${lines} before` : lines;
}
