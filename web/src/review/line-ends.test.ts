import { expect, test } from 'vitest';
import { lineEnds } from './line-ends';

const patch = (...lines: string[]) => ['diff --git a/x b/x', '--- a/x', '+++ b/x', '@@ -1,2 +1,2 @@ x', ...lines, ''].join('\n');

test('a change of line ends is told, which two lines that look alike do not', () => {
  expect([patch('-a', '+a\r'), patch('-a\r', '+a'), patch('-a\r', '-b', '+a', '+b')].map(lineEnds)).toEqual(['LF → CRLF', 'CRLF → LF', 'CRLF and LF → LF']);
});

test('nothing is told where ends stay, or where there is one side only', () => {
  expect([patch('-a', '+b'), patch('-a\r', '+b\r'), patch(' a\r', '+b'), patch('-b\r'), 'diff --git a/x b/x\nBinary files differ\n'].map(lineEnds)).toEqual([undefined, undefined, undefined, undefined, undefined]);
});

test('a last line without an end says nothing of ends', () => {
  expect([patch('-a', '\\ No newline at end of file', '+a\r', '+b\r'), patch('-a\r', '-b', '\\ No newline at end of file', '+a\r')].map(lineEnds)).toEqual([undefined, undefined]);
});
