import { expect, test } from 'vitest';
import type { Run } from '../api/types';
import { markSeen, seenNow, subscribeSeen } from './seen';

const run = (id: string, days_ago: number) => ({ id, ended_ms: Date.now() - days_ago * 24 * 60 * 60 * 1000 }) as Run;

test('a failure counts as seen when it was shown, or when it is older than a week', () => {
  let told = 0;
  subscribeSeen(() => ++told);
  const before = seenNow();
  markSeen('a');
  markSeen('a');
  expect([run('a', 1), run('b', 1), run('b', 8)].map(seenNow())).toEqual([true, false, true]);
  expect([told, seenNow() === before]).toEqual([1, false]);
});
