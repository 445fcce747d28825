import type { Job, Run, TraceEvent } from '../api/types';
import { isEnded } from '../words/states';

/** Whose budget can stop a run. */
export type BudgetScope = 'run' | 'job' | 'day';

/** The budget that stopped the last run of an ended job; nothing when none did, or its trace has not been read yet. */
export function stoppedBy(job: Job, run: Run, events: TraceEvent[]): BudgetScope | undefined {
  if (run.reason !== 'budget_exhausted' || run.number !== job.last_run?.number || !isEnded(job.state)) return undefined;
  const stop = events.findLast((event) => event.type === 'budget' && event.data['action'] === 'stopped');
  return stop?.data['scope'] as BudgetScope | undefined;
}

/** What is offered to one whose budget is spent: twice as much, and enough for what was spent already. */
export const raised = (budget_nano_usd: number, spent_nano_usd: number | null): number => 2 * Math.max(budget_nano_usd, spent_nano_usd ?? 0);

/** An amount of dollars as it was typed, for the server; nothing when it is none. A comma is taken for a point where only that makes sense. */
export function dollarsIn(text: string): string | undefined {
  const usd = text.trim().replace(/^\$\s*/, '').replace(/^(\d+),(\d{1,2})$/, '$1.$2');
  return /^\d{1,7}(\.\d{1,9})?$/.test(usd) && Number(usd) > 0 ? usd : undefined;
}
