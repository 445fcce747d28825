import type { FileDiffMetadata, Hunk } from '@pierre/diffs';
import type { LineAnchor } from './drafts';

type Side = LineAnchor['side'];

const startOf = (hunk: Hunk, side: Side) => (side === 'head' ? hunk.additionStart : hunk.deletionStart);
const countOf = (hunk: Hunk, side: Side) => (side === 'head' ? hunk.additionCount : hunk.deletionCount);

/** True when the line is part of what the diff shows by itself. */
export const holds = (file: FileDiffMetadata, side: Side, line: number): boolean =>
  file.hunks.some((hunk) => line >= startOf(hunk, side) && line < startOf(hunk, side) + countOf(hunk, side));

/** The lines as they are, joined; nothing when the diff does not have them all. */
export function textOf(file: FileDiffMetadata, at: LineAnchor): string | undefined {
  const lines = at.side === 'head' ? file.additionLines : file.deletionLines;
  const found: string[] = [];
  for (let line = at.start_line; line <= at.end_line; ++line) {
    const index = indexOf(file, at.side, line);
    const text = index === undefined ? undefined : lines[index];
    if (text === undefined) return undefined;
    found.push(text.replace(/\r?\n$/, ''));
  }
  return found.join('\n');
}

function indexOf(file: FileDiffMetadata, side: Side, line: number): number | undefined {
  if (!file.isPartial) return line - 1;
  const hunk = file.hunks.find((each) => line >= startOf(each, side) && line < startOf(each, side) + countOf(each, side));
  return hunk && (side === 'head' ? hunk.additionLineIndex : hunk.deletionLineIndex) + line - startOf(hunk, side);
}

/** The last row of a hunk: what belongs to all of it stands below. */
export function endOf(hunk: Hunk): { side: Side; line: number } {
  const last = hunk.hunkContent.at(-1);
  const removed_only = last?.type === 'change' && last.additions === 0;
  if (removed_only || hunk.additionCount === 0) return { side: 'base', line: hunk.deletionStart + hunk.deletionCount - 1 };
  return { side: 'head', line: hunk.additionStart + hunk.additionCount - 1 };
}

/** The lines that a hunk changed, without the context around them: what a comment on the hunk is about. */
export function changedLines(hunk: Hunk): Omit<LineAnchor, 'path'> {
  const span = (side: Side) => {
    let line = startOf(hunk, side);
    let [first, last] = [0, 0];
    for (const part of hunk.hunkContent) {
      const count = part.type === 'context' ? part.lines : side === 'head' ? part.additions : part.deletions;
      if (part.type === 'change' && count > 0) [first, last] = [first || line, line + count - 1];
      line += count;
    }
    return { side, start_line: first, end_line: last };
  };
  const head = span('head');
  return head.start_line ? head : span('base');
}
