import type { TraceEvent } from '../api/types';
import { number, text } from '../trace/event';

export type Denied = { host: string; port: number; times: number; seq: number };

/** The hosts that a run was not let to because nobody allowed them, the most wanted first; `seq` is the first refusal. */
export function deniedHosts(events: TraceEvent[]): Denied[] {
  const found = new Map<string, Denied>();
  for (const event of events) {
    if (event.type !== 'network' || event.data['decision'] !== 'denied_host') continue;
    const host = text(event, 'host');
    const port = number(event, 'port') ?? 0;
    const there = found.get(`${host}:${port}`);
    if (there) ++there.times;
    else found.set(`${host}:${port}`, { host, port, times: 1, seq: event.seq });
  }
  return [...found.values()].sort((a, b) => b.times - a.times || a.seq - b.seq);
}
