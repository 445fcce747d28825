import { expect, test } from 'vitest';
import { budgetOf, raised } from './budget';

test('an amount is what people type', () => {
  expect(budgetOf(' 1.50 ')).toBe('1.50');
  expect(budgetOf('$2')).toBe('2');
  expect(budgetOf('0,75')).toBe('0.75');
  for (const wrong of ['', '0', '0.00', '-1', 'much', '1e3', '1.2.3']) expect(budgetOf(wrong)).toBeUndefined();
});

test('twice the money is offered', () => expect(raised(250_000_000)).toBe(500_000_000));
