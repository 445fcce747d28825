import { describe, expect, test } from 'vitest';
import { ansi } from './ansi';

const plain = (text: string) => ansi(text).map((span) => span.text).join('');

describe('output of a terminal', () => {
  test('keeps colours', () => {
    expect(ansi('a \x1b[31mred \x1b[1mbold\x1b[0m z')).toEqual([
      { text: 'a ', style: '' },
      { text: 'red ', style: 'ansi-red' },
      { text: 'bold', style: 'ansi-red ansi-bold' },
      { text: ' z', style: '' },
    ]);
  });
  test('shows bright colours as their plain ones, and passes over the colours that the palette lacks', () => {
    expect(ansi('\x1b[92mok\x1b[39m \x1b[38;5;214mx\x1b[38;2;1;2;31my').map((span) => span.style)).toEqual(['ansi-green', '']);
  });
  test('leaves out what moves a cursor, sets a title, or rings', () => expect(plain('\x1b[2J\x1b[1;1Ha\x1b]0;title\x07b\x07\x1b[?25lc')).toBe('abc'));
  test('shows the last state of a line that was written over', () => expect(plain('10 %\r50 %\r100 %\r\nnext\n')).toBe('100 %\nnext\n'));
  test('does not take text for markup', () => expect(ansi('<b>&amp;')).toEqual([{ text: '<b>&amp;', style: '' }]));
});
