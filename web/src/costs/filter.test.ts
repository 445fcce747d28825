import { expect, test } from 'vitest';
import { costSearch, readCostFilter } from './filter';

test('the filter goes into the address and comes back', () => {
  for (const filter of [
    { days: 30, repository: '', model: '' },
    { days: 90, repository: '/srv/a b', model: 'x/y' },
  ])
    expect(readCostFilter(costSearch(filter))).toEqual(filter);
  expect(costSearch({ days: 30, repository: '', model: '' })).toBe('');
});

test('an odd span is the usual one', () => {
  expect(readCostFilter('?days=31').days).toBe(30);
  expect(readCostFilter('?days=x').days).toBe(30);
});
