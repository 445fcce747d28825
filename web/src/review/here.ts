import { useSyncExternalStore } from 'react';

/** The file at the top of the window. Only what shows it listens: as a state of the page it would draw all of it again while one scrolls. */
export class Here {
  private path: string | undefined;
  private readonly listeners = new Set<() => void>();

  get = (): string | undefined => this.path;

  set = (path: string): void => {
    if (path === this.path) return;
    this.path = path;
    for (const listener of [...this.listeners]) listener();
  };

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };
}

export const useHere = (here: Here): string | undefined => useSyncExternalStore(here.subscribe, here.get);

/** Of places one below the other the last that begins at `limit` or above; the first when none does. -1 when there are none. */
export function lastAbove(count: number, topOf: (index: number) => number, limit: number): number {
  let [low, high] = [0, count - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (topOf(middle) <= limit) low = middle;
    else high = middle - 1;
  }
  return count ? low : -1;
}
