import { processFile } from '@pierre/diffs';
import { describe, expect, test, vi } from 'vitest';
import { changedLines, endOf, holds, textOf } from './lines';

// The diff view looks at the browser as it is loaded; Node.js 20 is none.
vi.hoisted(() => vi.stubGlobal('navigator', { userAgent: '' }));

const file = processFile(
  ['diff --git a/a b/a', '--- a/a', '+++ b/a', '@@ -10,4 +10,5 @@', ' a', '-b', '+B', '+C', ' d', ' e', '@@ -30,2 +31 @@', ' x', '-y', ''].join('\n'),
  { isGitDiff: true, disableLineMatching: true },
)!;
const [first, second] = file.hunks;

describe('the lines of a diff', () => {
  test('are found by their number and side', () => {
    expect(textOf(file, { path: 'a', side: 'head', start_line: 11, end_line: 13 })).toBe('B\nC\nd');
    expect(textOf(file, { path: 'a', side: 'base', start_line: 31, end_line: 31 })).toBe('y');
  });
  test('that are not shown are nothing', () => {
    expect(textOf(file, { path: 'a', side: 'head', start_line: 14, end_line: 15 })).toBeUndefined();
    expect([holds(file, 'head', 14), holds(file, 'head', 15), holds(file, 'base', 31)]).toEqual([true, false, true]);
  });
});

test('what belongs to a hunk stands below its last row', () => expect([endOf(first!), endOf(second!)]).toEqual([{ side: 'head', line: 14 }, { side: 'base', line: 31 }])); // prettier-ignore
test('a comment on a hunk is about what it changed', () => {
  expect(changedLines(first!)).toEqual({ side: 'head', start_line: 11, end_line: 12 });
  expect(changedLines(second!)).toEqual({ side: 'base', start_line: 31, end_line: 31 });
});
