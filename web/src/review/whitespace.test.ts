import { describe, expect, test } from 'vitest';
import { filePatches } from './patch';
import * as whitespace from './whitespace';

const withoutWhitespace = (patch: string) => whitespace.withoutWhitespace(filePatches(patch)[0]!);

const head = 'diff --git a/a b/a\n--- a/a\n+++ b/a\n';
const hunk = (...lines: string[]) => `@@ -1,${lines.filter((line) => line[0] !== '+').length} +1,${lines.filter((line) => line[0] !== '-').length} @@\n${lines.join('\n')}\n`;

describe('without white space', () => {
  test('a line that was only indented is context, as it is now', () => {
    expect(withoutWhitespace(head + hunk(' a', '-b', '-c', '+  b', '+d', ' e'))).toBe(head + hunk(' a', '   b', '-c', '+d', ' e'));
  });
  test('a hunk of white space is not there', () => expect(withoutWhitespace(head + hunk(' a', '-b', '+b ') + hunk('-x', '+y'))).toBe(head + hunk('-x', '+y')));
  test('a file of white space is not there', () => expect(withoutWhitespace(head + hunk('-b', '+ b'))).toBeUndefined());
  test('a file without hunks stays', () => expect(withoutWhitespace(head)).toBe(head));
  test('removed lines stand before added ones', () => expect(withoutWhitespace(head + hunk('-a', '-b', '+x', '+y'))).toBe(head + hunk('-a', '-b', '+x', '+y')));
  test('characters that only look like none are no white space', () => {
    for (const odd of ['\u2028', '\ufeff', '\u00a0', '\r']) expect(withoutWhitespace(head + hunk('-b', `+${odd}b`))).toBe(head + hunk('-b', `+${odd}b`));
    expect(withoutWhitespace(head + hunk('-b', '+b\r'))).toBeUndefined();
  });
  test('the remark about a missing last newline stays with its line', () => {
    const patch = `${head}@@ -1,2 +1,2 @@\n-a\n-b\n\\ No newline at end of file\n+ a\n+c\n\\ No newline at end of file\n`;
    expect(withoutWhitespace(patch)).toBe(`${head}@@ -1,2 +1,2 @@\n  a\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n`);
  });
});
