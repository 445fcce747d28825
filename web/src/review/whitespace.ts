// A diff in which lines that differ in white space only count as equal. For reading: verdicts are about the real lines.

import type { FilePatch } from './patch';

/** Beyond this many pairs a block is left as it is. */
const most_pairs = 4_000_000;

/** Blanks, tabs and ends of lines alone are white space: what else has no picture of its own may well matter. */
const bare = (line: string) => line.slice(1).replace(/[ \t]+|\r?\n/g, '');

/** The patch of one file without what is white space only; nothing when nothing is left of a patch that had hunks. */
export function withoutWhitespace({ head, hunks }: Pick<FilePatch, 'head' | 'hunks'>): string | undefined {
  const left = hunks.map((hunk) => eased(hunk.text)).filter((hunk) => hunk !== undefined);
  if (hunks.length > 0 && left.length === 0) return undefined;
  return head + left.join('');
}

function eased(hunk: string): string | undefined {
  const lines = hunk.split(/(?<=\n)/);
  const out: string[] = [lines[0] ?? ''];
  let [removed, added]: [string[], string[]] = [[], []];
  let changed = false;
  const flush = () => {
    const block = matched(removed, added);
    if (block.some((line) => !line.startsWith(' '))) changed = true;
    out.push(...block);
    [removed, added] = [[], []];
  };
  for (const line of lines.slice(1)) {
    // The remark about a missing last newline belongs to the line before it.
    if (line.startsWith('\\')) {
      const side = added.length ? added : removed;
      if (side.length) side.push((side.pop() ?? '') + line);
      else out.push(line);
    } else if (line.startsWith('-')) removed.push(line);
    else if (line.startsWith('+')) added.push(line);
    else (flush(), out.push(line));
  }
  flush();
  return changed ? out.join('') : undefined;
}

/** The block with the longest common run of lines, compared without white space, as context. */
function matched(removed: string[], added: string[]): string[] {
  if (!removed.length || !added.length || removed.length * added.length > most_pairs) return [...removed, ...added];
  const [old, now] = [removed.map(bare), added.map(bare)];
  const length = table(old, now);
  const out: string[] = [];
  let [i, j] = [0, 0];
  let waiting: string[] = [];
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      out.push(...waiting, ` ${added[j]!.slice(1)}`);
      waiting = [];
      (++i, ++j);
    } else if (j < now.length && (i === old.length || length[i]![j + 1]! > length[i + 1]![j]!)) waiting.push(added[j++]!);
    else {
      // Removed lines go before added ones.
      out.push(removed[i++]!);
    }
  }
  return [...out, ...waiting];
}

/** length[i][j]: the longest common run of old[i..] and now[j..]. */
function table(old: string[], now: string[]): Uint32Array[] {
  const length = Array.from({ length: old.length + 1 }, () => new Uint32Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; --i)
    for (let j = now.length - 1; j >= 0; --j) length[i]![j] = old[i] === now[j] ? length[i + 1]![j + 1]! + 1 : Math.max(length[i + 1]![j]!, length[i]![j + 1]!);
  return length;
}
