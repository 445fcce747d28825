// Which failed runs this browser has shown. Kept here and not on the server: it is about what this reader has looked at.
import type { Run } from '../api/types';

const key = 'forge.seen';
const most = 2000;
/** A failure that nobody opened for so long needs nobody any more; a browser that comes for the first time would else show them all. */
const fresh_ms = 7 * 24 * 60 * 60 * 1000;

export type Seen = (run: Run) => boolean;

const listeners = new Set<() => void>();
let known: Set<string> | undefined;

const lookup = (): Seen => (run) => read().has(run.id) || (run.ended_ms ?? Infinity) < Date.now() - fresh_ms;
let look = lookup();

function read(): Set<string> {
  if (known) return known;
  try {
    known = new Set(JSON.parse(localStorage.getItem(key) ?? '[]') as string[]);
  } catch {
    known = new Set();
  }
  return known;
}

function changed(): void {
  look = lookup(); // another function: React sees that its answers changed
  for (const listener of [...listeners]) listener();
}

export function markSeen(run_id: string): void {
  if (read().has(run_id)) return;
  read().add(run_id);
  try {
    localStorage.setItem(key, JSON.stringify([...read()].slice(-most)));
  } catch {
    // No room or no permission: it is remembered until the tab closes.
  }
  changed();
}

export const seenNow = (): Seen => look;

export function subscribeSeen(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

if (typeof window !== 'undefined')
  window.addEventListener('storage', (event) => {
    if (event.key !== key) return;
    known = undefined;
    changed();
  });
