import { expect, test } from 'vitest';
import { counts } from './held';

test('a held key moves on and decides once', () => {
  const [pressed, held] = [{ repeat: false }, { repeat: true }];
  expect([counts(pressed, {}), counts(pressed, { moves: true }), counts(held, { moves: true }), counts(held, {}), counts(held, undefined)]).toEqual([true, true, true, false, false]);
});
