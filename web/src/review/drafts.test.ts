import { describe, expect, test } from 'vitest';
import { anchorOf, commentPlace, Drafts, draftsName, forgetDrafts } from './drafts';

function shelf(kept: Record<string, string> = {}) {
  return {
    kept,
    get length() {
      return Object.keys(kept).length;
    },
    key: (i: number) => Object.keys(kept)[i] ?? null,
    getItem: (name: string) => kept[name] ?? null,
    setItem: (name: string, text: string) => void (kept[name] = text),
    removeItem: (name: string) => void delete kept[name],
  };
}

const name = draftsName('ada', 'j', 1);

describe('what was typed', () => {
  test('is there after a reload', () => {
    const there = shelf();
    new Drafts(there, name).keep('note', 'Nearly');
    expect([new Drafts(there, name).text('note'), new Drafts(there, name).places()]).toEqual(['Nearly', ['note']]);
  });
  test('is forgotten when it was sent', () => {
    const there = shelf();
    const drafts = new Drafts(there, name);
    drafts.keep('note', 'x');
    drafts.keep('note', '');
    expect([drafts.places(), there.kept]).toEqual([[], {}]);
  });
  test('in two tabs stands side by side', () => {
    const there = shelf();
    const [one, other] = [new Drafts(there, name), new Drafts(there, name)];
    one.keep('note', 'x');
    other.keep('message', 'y');
    one.keep('reason:a', 'z');
    expect(new Drafts(there, name).places()).toEqual(['note', 'message', 'reason:a']);
    expect(one.text('message')).toBe('y');
  });
  test('in another review, or by somebody else, is not seen', () => {
    const there = shelf();
    new Drafts(there, name).keep('note', 'x');
    for (const other of [draftsName('ada', 'j', 11), draftsName('ada', 'k', 1), draftsName('bob', 'j', 1), draftsName('ad', 'j', 1)]) expect([new Drafts(there, other).text('note'), new Drafts(there, other).places()]).toEqual(['', []]);
  });
  test('is forgotten in all reviews when one signs out, and what the others typed is not', () => {
    const there = shelf({ 'forge.theme': 'dark' });
    for (const each of [name, draftsName('ada', 'k', 2), draftsName('ada/b', 'j', 1)]) new Drafts(there, each).keep('note', 'x');
    forgetDrafts(there, 'ada');
    expect(Object.keys(there.kept)).toEqual(['forge.theme', `${draftsName('ada/b', 'j', 1)}note`]);
  });
  test('stays while the page is open when the browser has no room', () => {
    const full = { ...shelf(), length: 0, setItem: () => { throw new Error('full'); } }; // prettier-ignore
    const drafts = new Drafts(full, name);
    drafts.keep('note', 'x');
    expect([drafts.text('note'), drafts.places()]).toEqual(['x', ['note']]);
    drafts.keep('note', '');
    expect(drafts.places()).toEqual([]);
  });
});

test('the place of a comment names its lines, whatever the path looks like', () => {
  const at = { path: 'a b:3-4:c.py', side: 'head' as const, start_line: 3, end_line: 9 };
  expect(anchorOf(commentPlace(at))).toEqual(at);
  expect(anchorOf('note')).toBeUndefined();
});
