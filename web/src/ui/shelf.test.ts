import { expect, test } from 'vitest';
import { Shelf } from './shelf';

type State = 'saved' | 'saving' | 'failed';

class Note {
  private readonly listeners = new Set<() => void>();
  private state: State = 'saved';

  unsaved = () => this.state !== 'saved';
  stuck = () => this.state === 'failed';
  subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };
  is(state: State): void {
    this.state = state;
    for (const listener of this.listeners) listener();
  }
  get heard() {
    return this.listeners.size;
  }
}

const of = (owner: string) => ({ owner, title: `Note of ${owner}`, href: `/notes/${owner}` });

function shelfWith(...names: string[]) {
  const shelf = new Shelf();
  const notes = names.map((name) => {
    const note = new Note();
    shelf.put(name, of(name), note);
    note.is('failed');
    return note;
  });
  return { shelf, notes };
}

test('what is not saved is found again under its name, and only there', () => {
  const { shelf, notes } = shelfWith('ada', 'bob');
  expect([shelf.left('ada') === notes[0], shelf.left('bob') === notes[1], shelf.left('eve')]).toEqual([true, true, undefined]);
});

test('what is saved is let go of when something else comes', () => {
  const { shelf, notes } = shelfWith('ada');
  notes[0]!.is('saved');
  shelf.put('bob', of('bob'), new Note());
  expect([shelf.left('ada'), notes[0]!.heard]).toEqual([undefined, 0]);
});

test('what is on its way is unsaved, and stuck only once it failed', () => {
  const { shelf, notes } = shelfWith('ada');
  const seen: [boolean, number][] = [];
  shelf.subscribe(() => seen.push([shelf.unsaved(), shelf.stuck().length]));
  notes[0]!.is('saving');
  notes[0]!.is('failed');
  notes[0]!.is('saved');
  expect(seen).toEqual([[true, 0], [true, 1], [false, 0]]); // prettier-ignore
});

test('the list of what is stuck is the same one until it changes', () => {
  const { shelf, notes } = shelfWith('ada');
  const before = shelf.stuck();
  notes[0]!.is('failed');
  expect([shelf.stuck() === before, before.map((each) => each.owner)]).toEqual([true, ['ada']]);
});

test('what its own page shows is told apart from what was left', () => {
  const shelf = new Shelf();
  const note = new Note();
  const leave = shelf.put('ada', of('ada'), note);
  note.is('failed');
  const shown = () => shelf.stuck().map((each) => each.shown);
  const before = shown();
  leave();
  expect([before, shown()]).toEqual([[true], [false]]);
});

test('what is discarded warns of nothing and is not found again', () => {
  const { shelf } = shelfWith('ada', 'bob');
  shelf.discard('ada');
  expect([shelf.left('ada'), shelf.stuck().map((each) => each.name)]).toEqual([undefined, ['bob']]);
  shelf.clear();
  expect([shelf.unsaved(), shelf.stuck()]).toEqual([false, []]);
});
