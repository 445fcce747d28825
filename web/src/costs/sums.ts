import type { SpendingRow, Usage } from '../api/types';

/** What several rows come to. */
export type Sum = { name: string; requests: number; unpriced_requests: number; nano_usd: number; usage: Usage };

const day_ms = 24 * 3600 * 1000;

const none = (name: string): Sum => ({ name, requests: 0, unpriced_requests: 0, nano_usd: 0, usage: { input: 0, output: 0, cache_read: 0, cache_write: 0 } });

function add(sum: Sum, row: SpendingRow): void {
  sum.requests += row.requests;
  sum.unpriced_requests += row.unpriced_requests;
  sum.nano_usd += row.priced_nano_usd;
  for (const part of ['input', 'output', 'cache_read', 'cache_write'] as const) sum.usage[part] += row.usage[part];
}

export function total(rows: SpendingRow[]): Sum {
  const sum = none('');
  for (const row of rows) add(sum, row);
  return sum;
}

/** By repository, model or day; what cost most first. */
export function sumBy(rows: SpendingRow[], key: 'repository' | 'model' | 'day'): Sum[] {
  const sums = new Map<string, Sum>();
  for (const row of rows) {
    const name = row[key];
    const sum = sums.get(name) ?? none(name);
    add(sum, row);
    sums.set(name, sum);
  }
  return [...sums.values()].sort((a, b) => b.nano_usd - a.nano_usd || b.requests - a.requests || (a.name < b.name ? -1 : 1));
}

/** A sum for each day from first to last, also for those on which nothing happened. */
export function days(rows: SpendingRow[], first: string, last: string): Sum[] {
  const by_day = new Map(sumBy(rows, 'day').map((sum) => [sum.name, sum]));
  const all: Sum[] = [];
  for (let at = Date.parse(first); at <= Date.parse(last); at += day_ms) {
    const day = dayOf(at);
    all.push(by_day.get(day) ?? none(day));
  }
  return all;
}

/** "2026-11-30", UTC: as budgets count days. */
export const dayOf = (ms: number): string => new Date(ms).toISOString().slice(0, 10);

/** The first day of a span of so many days that ends today. */
export const firstDay = (now_ms: number, span: number): string => dayOf(now_ms - (span - 1) * day_ms);
