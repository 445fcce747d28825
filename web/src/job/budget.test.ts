import { expect, test } from 'vitest';
import type { Job, Run, TraceEvent } from '../api/types';
import { dollarsIn, raised, stoppedBy } from './budget';

test('an amount is what people type', () => {
  expect(dollarsIn(' 1.50 ')).toBe('1.50');
  expect(dollarsIn('$2')).toBe('2');
  expect(dollarsIn('0,75')).toBe('0.75');
  for (const wrong of ['', '0', '0.00', '-1', 'much', '1e3', '1.2.3', '1,500', '1,2,3']) expect(dollarsIn(wrong)).toBeUndefined();
});

test('twice the money is offered, and never less than what was spent', () => {
  expect(raised(250_000_000, 1)).toBe(500_000_000);
  expect(raised(4_000_000, 8_075_000)).toBe(16_150_000);
  expect(raised(4_000_000, null)).toBe(8_000_000);
});

test('the trace tells whose budget it was', () => {
  const run = { number: 2, reason: 'budget_exhausted' } as Run;
  const job = { state: 'failed', last_run: run } as Job;
  const told = (action: string, scope: string) => ({ type: 'budget', data: { action, scope } }) as unknown as TraceEvent;
  expect(stoppedBy(job, run, [told('warning', 'day'), told('stopped', 'run')])).toBe('run');
  expect(stoppedBy(job, run, [told('stopped', 'day')])).toBe('day');
  expect(stoppedBy(job, run, [told('warning', 'run')])).toBeUndefined();
  expect(stoppedBy({ ...job, last_run: { ...run, number: 3 } }, run, [told('stopped', 'run')])).toBeUndefined();
  expect(stoppedBy({ ...job, state: 'running' }, run, [told('stopped', 'run')])).toBeUndefined();
});
