import { describe, expect, test } from 'vitest';
import { paired, type FileOfReview, type HunkOfReview } from './pairing';
import { filePatches } from './patch';

const file = (path: string, change: Partial<FileOfReview> = {}): FileOfReview => ({ path, old_path: path, change: 'modified', insertions: 1, deletions: 1, binary: false, ...change });
const text: HunkOfReview = { kind: 'text', old_start: 1, old_lines: 1, new_start: 1, new_lines: 1 };
const as_whole: HunkOfReview = { kind: 'file', old_start: 0, old_lines: 0, new_start: 0, new_lines: 0 };
const patchOf = (name: string) => `diff --git ${name.replace('*', 'a')} ${name.replace('*', 'b')}\n--- ${name.replace('*', 'a')}\n+++ ${name.replace('*', 'b')}\n@@ -1 +1 @@\n-a\n+b\n`;
const diff = patchOf('*/a') + patchOf('*/b');
const pairs = (of: string, files: FileOfReview[], hunks: HunkOfReview[] = [text]) => paired(filePatches(of), files, () => hunks).map(({ patch }) => patch !== undefined);

describe('a file has its patch', () => {
  test('when name, hunks and lines are those of the review', () => expect(pairs(diff, [file('a'), file('b')])).toEqual([true, true]));
  test('not when there are more or fewer files', () => {
    expect(pairs(diff, [file('a')])).toEqual([false]);
    expect(pairs(patchOf('*/a'), [file('a'), file('b')])).toEqual([false, false]);
  });
  test('not when another is named', () => expect(pairs(diff, [file('a'), file('c')])).toEqual([true, false]));
  test('not when a hunk is elsewhere, missing or too many', () => {
    expect(pairs(diff, [file('a'), file('b')], [{ ...text, new_start: 2 }])).toEqual([false, false]);
    expect(pairs(diff, [file('a'), file('b')], [text, text])).toEqual([false, false]);
    expect(pairs(diff, [file('a'), file('b')], [])).toEqual([false, false]);
  });
  test('not when it has other lines', () => expect(pairs(diff, [file('a', { insertions: 2 }), file('b', { deletions: 0 })])).toEqual([false, false]));
  test('by its bytes', () => {
    const names = patchOf('"*/s\\377"') + patchOf('"*/s\\376"');
    expect(pairs(names, [file('s\ufffd', { path_base64: btoa('s\xff') }), file('s\ufffd', { path_base64: btoa('s\xfe') })])).toEqual([true, true]);
    expect(pairs(names, [file('s\ufffd', { path_base64: btoa('s\xfe') }), file('s\ufffd', { path_base64: btoa('s\xff') })])).toEqual([false, false]);
  });
  test('of two parts when it changed its type', () => {
    const parts = 'diff --git a/l b/l\ndeleted file mode 100644\n--- a/l\n+++ /dev/null\n@@ -1 +0,0 @@\n-a\ndiff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+b\n\\ No newline at end of file\n';
    const [first, second] = paired(filePatches(parts + patchOf('*/z')), [file('l', { change: 'retyped' }), file('z')], (key) => (key === 'l' ? [as_whole] : [text]));
    expect(first?.patch?.hunks[0]?.text).toBe('@@ -1,1 +1,1 @@\n-a\n+b\n\\ No newline at end of file\n');
    expect(second?.patch).toBeDefined();
  });
});
