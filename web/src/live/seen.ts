// Which failed runs this browser has shown. Kept here and not on the server: it is about what this reader has looked at.

const key = 'forge.seen';
const most = 2000;
const listeners = new Set<() => void>();
let known: Set<string> | undefined;
let look = (run_id: string): boolean => read().has(run_id);

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
  look = (run_id) => read().has(run_id); // another function: React sees that its answers changed
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

export const seenNow = (): ((run_id: string) => boolean) => look;

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
