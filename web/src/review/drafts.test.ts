import { describe, expect, test } from 'vitest';
import { anchorOf, commentPlace, Drafts } from './drafts';

function shelf(kept: Record<string, string> = {}) {
  return { kept, getItem: (name: string) => kept[name] ?? null, setItem: (name: string, text: string) => void (kept[name] = text), removeItem: (name: string) => void delete kept[name] };
}

describe('what was typed', () => {
  test('is there after a reload', () => {
    const there = shelf();
    new Drafts(there, 'r').keep('note', 'Nearly');
    expect(new Drafts(there, 'r').text('note')).toBe('Nearly');
  });
  test('is forgotten when it was sent', () => {
    const there = shelf();
    const drafts = new Drafts(there, 'r');
    drafts.keep('note', 'x');
    drafts.keep('note', '');
    expect([drafts.places(), there.kept]).toEqual([[], {}]);
  });
  test('of another review is not touched', () => expect(new Drafts(shelf({ other: '{"note":"x"}' }), 'r').text('note')).toBe(''));
  test('that cannot be read counts as nothing', () => expect(['[', '"x"', '{"note":1}'].map((text) => new Drafts(shelf({ r: text }), 'r').text('note'))).toEqual(['', '', '']));
});

test('the place of a comment names its lines, whatever the path looks like', () => {
  const at = { path: 'a b:3-4:c.py', side: 'head' as const, start_line: 3, end_line: 9 };
  expect(anchorOf(commentPlace(at))).toEqual(at);
  expect(anchorOf('note')).toBeUndefined();
});
