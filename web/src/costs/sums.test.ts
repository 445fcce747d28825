import { expect, test } from 'vitest';
import type { SpendingRow } from '../api/types';
import { dayOf, days, firstDay, sumBy, total } from './sums';

const row = (day: string, repository: string, model: string, nano: number, unpriced = 0): SpendingRow => ({
  day,
  repository,
  model,
  requests: 2,
  unpriced_requests: unpriced,
  usage: { input: 1, output: 10, cache_read: 100, cache_write: 1000 },
  priced_nano_usd: nano,
});
const rows = [row('2026-11-30', '/a', 'x', 5), row('2026-11-30', '/b', 'x', 7), row('2026-11-28', '/a', 'y', 3, 1)];

test('rows are summed by what is asked for, the dearest first', () => {
  expect(sumBy(rows, 'repository').map((sum) => [sum.name, sum.nano_usd, sum.requests])).toEqual([
    ['/a', 8, 4],
    ['/b', 7, 2],
  ]);
  expect(sumBy(rows, 'model').map((sum) => [sum.name, sum.unpriced_requests])).toEqual([
    ['x', 0],
    ['y', 1],
  ]);
  expect(total(rows).usage).toEqual({ input: 3, output: 30, cache_read: 300, cache_write: 3000 });
  expect(total([]).nano_usd).toBe(0);
});

test('every day of a span has its bar', () => {
  expect(days(rows, '2026-11-27', '2026-11-30').map((sum) => [sum.name, sum.nano_usd])).toEqual([
    ['2026-11-27', 0],
    ['2026-11-28', 3],
    ['2026-11-29', 0],
    ['2026-11-30', 12],
  ]);
});

test('days are those of the calendar in UTC', () => {
  expect(dayOf(Date.UTC(2026, 10, 30, 23, 59))).toBe('2026-11-30');
  expect(firstDay(Date.UTC(2026, 10, 30, 1), 30)).toBe('2026-11-01');
  expect(firstDay(Date.UTC(2026, 10, 30, 1), 1)).toBe('2026-11-30');
});
