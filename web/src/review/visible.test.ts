import { expect, test } from 'vitest';
import { visibleName, visiblePatch, visibleText } from './visible';

test.each(['\u202a', '\u202e', '\u2066', '\u2069', '\u200e', '\u200f', '\u061c', '\u200b', '\u200d', '\u2060', '\ufeff', '\u2028', '\u2029', '\u0085', '\0', '\x1b', '\f', '\x7f', '\u{e0041}'])('%j is shown', (unseen) => {
  const mark = `⟨U+${unseen.codePointAt(0)!.toString(16).toUpperCase().padStart(4, '0')}⟩`;
  expect(visibleText(`a${unseen}b${unseen}\n`)).toEqual({ text: `a${mark}b${mark}\n`, marks: [mark] });
});
test('what can be seen stays, and so do tabs and CRLF', () => {
  const text = '\tä ב 你 😀 \u00a0 ⟨U+202E⟩\r\n\r\n';
  expect(visibleText(text)).toEqual({ text, marks: [] });
});
test('a carriage return that ends no line is shown', () => {
  expect(visibleText('a\rb\r\r\nc\r').text).toBe('a⟨U+000D⟩b⟨U+000D⟩\r\nc⟨U+000D⟩');
  expect(visiblePatch('-a\r\n+a\r\n\\ No newline at end of file\n').text).toBe('-a\r\n+a⟨U+000D⟩\n\\ No newline at end of file\n');
});
test('there are as many lines as before', () => expect(visiblePatch('+a\u2028diff --git a/x b/x\n+b\n').text.split('\n')).toHaveLength(3));
test('a name has one line', () => expect(visibleName('a\nb\tc')).toBe('a⟨U+000A⟩b⟨U+0009⟩c'));
