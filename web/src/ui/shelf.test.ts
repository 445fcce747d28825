import { expect, test } from 'vitest';
import { Shelf } from './shelf';

class Note {
  private readonly listeners = new Set<() => void>();
  private is_unsaved = false;

  unsaved = () => this.is_unsaved;
  subscribe = (listener: () => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };
  set(unsaved: boolean): void {
    this.is_unsaved = unsaved;
    for (const listener of this.listeners) listener();
  }
  get heard() {
    return this.listeners.size;
  }
}
const note = () => new Note();

test('what is not saved is found again under its name, and only there', () => {
  const shelf = new Shelf();
  const first = shelf.take('ada/1', note);
  first.set(true);
  expect([shelf.take('ada/2', note) === first, shelf.take('ada/1', note) === first]).toEqual([false, true]);
});

test('what is saved is let go of', () => {
  const shelf = new Shelf();
  const first = shelf.take('ada/1', note);
  first.set(true);
  first.set(false);
  expect([shelf.take('ada/1', note) === first, first.heard]).toEqual([false, 0]);
});

test('the window knows whether anything is unsaved, whichever page is shown', () => {
  const shelf = new Shelf();
  const told: boolean[] = [];
  shelf.subscribe(() => told.push(shelf.unsaved()));
  const first = shelf.take('ada/1', note);
  first.set(true);
  shelf.take('ada/2', note);
  expect(shelf.unsaved()).toBe(true);
  first.set(false);
  expect([shelf.unsaved(), told]).toEqual([false, [true, false]]);
});
