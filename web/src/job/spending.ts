import type { TraceEvent } from '../api/types';
import { number } from '../trace/event';

export type Point = { at_s: number; nano_usd: number };

/** What had been spent by when: seconds since the run's first event. Answers without a known price add nothing. */
export function spending(events: TraceEvent[]): Point[] {
  const first = events[0];
  if (!first) return [];
  const points: Point[] = [{ at_s: 0, nano_usd: 0 }];
  let sum = 0;
  for (const event of events) {
    if (event.type !== 'model') continue;
    sum += number(event, 'cost_nano_usd') ?? 0;
    points.push({ at_s: (event.ts_ms - first.ts_ms) / 1000, nano_usd: sum });
  }
  return sum > 0 ? points : [];
}
