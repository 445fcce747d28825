import { describe, expect, test, vi } from 'vitest';
import { textOf } from './lines';
import type { FileOfReview } from './pairing';
import { shownFiles } from './shown-file';

// The diff view looks at the browser as it is loaded; Node.js 20 is none.
vi.hoisted(() => vi.stubGlobal('navigator', { userAgent: '' }));

const file = (change: Partial<FileOfReview> = {}): FileOfReview => ({ path: 'n.py', old_path: 'n.py', change: 'modified', insertions: 3, deletions: 1, binary: false, ...change });
const text = { kind: 'text' as const, old_start: 1, old_lines: 1, new_start: 1, new_lines: 3 };
const patch = (odd: string) => `diff --git a/n.py b/n.py\n--- a/n.py\n+++ b/n.py\n@@ -1 +1,3 @@\n-x\n+# note${odd}diff --git a/README.md b/README.md${odd}@@ -1 +1 @@\n+evil\n+x\n`;
const shown = (diff: string, of = file()) => shownFiles(diff, 'k', { review: { files: [of], hunksOf: () => [text] }, whitespace: true });

describe('a file', () => {
  test.each(['\r', '\u2028', '\u2029', '\u0085'])('that holds %j is shown with all its lines, and real ones for a suggestion', (odd) => {
    const [only, ...more] = shown(patch(odd));
    expect([more.length, only?.unsafe, only?.insertions, only?.marks.length]).toEqual([0, false, 3, 1]);
    expect(only?.diff.additionLines[1]).toBe('evil\n');
    expect(only?.diff.additionLines[0]).not.toContain(odd);
    expect(textOf(only!.real!, { path: 'n.py', side: 'head', start_line: 1, end_line: 1 })).toBe(`# note${odd}diff --git a/README.md b/README.md${odd}@@ -1 +1 @@`);
  });
  test('with CRLF is a file like any other', () => {
    const [only] = shown('diff --git a/n.py b/n.py\n--- a/n.py\n+++ b/n.py\n@@ -1 +1,3 @@\n-x\r\n+a\r\n+b\r\n+x\n');
    expect([only?.unsafe, only?.marks, only?.real, only?.insertions]).toEqual([false, [], undefined, 3]);
  });
  test('that does not agree with the review shows nothing', () => {
    const [only] = shown(patch(''), file({ insertions: 4 }));
    expect([only?.unsafe, only?.diff.hunks.length, only?.path]).toEqual([true, 0, 'n.py']);
  });
  test('is there even when the diff has none', () => expect(shown('').map((each) => [each.path, each.unsafe])).toEqual([['n.py', true]]));
});
