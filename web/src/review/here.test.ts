import { expect, test, vi } from 'vitest';
import { Here, lastAbove } from './here';

test('the file at the top of the window is found without a walk over all', () => {
  const top_of = vi.fn((index: number) => index * 100);
  expect([-5, 0, 99, 100, 1234, 1e9].map((limit) => lastAbove(2000, top_of, limit))).toEqual([0, 0, 0, 1, 12, 1999]);
  expect(top_of.mock.calls.length).toBeLessThan(6 * 12);
  expect([lastAbove(0, top_of, 5), lastAbove(1, top_of, -5)]).toEqual([-1, 0]);
});

test('listeners are told of another file, not of the same one again', () => {
  const here = new Here();
  const told = vi.fn();
  const stop = here.subscribe(told);
  here.set('a');
  here.set('a');
  expect([here.get(), told.mock.calls.length]).toEqual(['a', 1]);
  stop();
  here.set('b');
  expect(told.mock.calls.length).toBe(1);
});
