// Work that outlives the page on which it was done: to go to another page, or to be signed out meanwhile, loses nothing.
import { createContext, useContext, useEffect, useSyncExternalStore } from 'react';

/** What somebody did and the server may not have yet. */
export type Work = {
  /** On its way to the server, or it did not get there. */
  unsaved: () => boolean;
  /** It did not get there, and does not try again by itself. */
  stuck: () => boolean;
  subscribe: (listener: () => void) => () => void;
};

/** `owner` may be another one than who is signed in now; `href` is where it goes on. */
export type Label = { owner: string; title: string; href: string };
/** `shown`: its own page is open, and decides about it there. */
export type Entry = Label & { name: string; work: Work; shown: boolean };

export class Shelf {
  private readonly entries = new Map<string, { entry: Entry; leave: () => void }>();
  private readonly listeners = new Set<() => void>();
  private stuck_entries: readonly Entry[] = [];

  /** What was left under this name. */
  left<W extends Work>(name: string): W | undefined {
    return this.entries.get(name)?.entry.work as W | undefined;
  }

  /** Until the function that it returns is called, the work is shown. Other work that is saved is let go of. */
  put(name: string, label: Label, work: Work): () => void {
    for (const [each, { entry }] of this.entries) if (each !== name && !entry.work.unsaved()) this.drop(each);
    this.drop(name);
    const entry: Entry = { name, ...label, work, shown: true };
    this.entries.set(name, { entry, leave: work.subscribe(() => this.changed()) });
    this.changed();
    return () => void (entry.shown = false);
  }

  discard(name: string): void {
    this.drop(name);
    this.changed();
  }

  clear(): void {
    for (const name of [...this.entries.keys()]) this.drop(name);
    this.changed();
  }

  unsaved = (): boolean => [...this.entries.values()].some(({ entry }) => entry.work.unsaved());
  /** The same array until something changes. */
  stuck = (): readonly Entry[] => this.stuck_entries;

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  private drop(name: string): void {
    this.entries.get(name)?.leave();
    this.entries.delete(name);
  }

  private changed(): void {
    const stuck = [...this.entries.values()].map(({ entry }) => entry).filter(({ work }) => work.stuck());
    if (stuck.length !== this.stuck_entries.length || stuck.some((each, i) => each !== this.stuck_entries[i])) this.stuck_entries = stuck;
    for (const listener of [...this.listeners]) listener();
  }
}

const Context = createContext<Shelf | undefined>(undefined);
export const ShelfProvider = Context.Provider;

export function useShelf(): Shelf {
  const shelf = useContext(Context);
  if (!shelf) throw new Error('useShelf outside of ShelfProvider');
  return shelf;
}

/** The browser asks before it leaves while something is not saved. */
export function useWarning(shelf: Shelf): void {
  const unsaved = useSyncExternalStore(shelf.subscribe, shelf.unsaved);
  useEffect(() => {
    if (!unsaved) return;
    const warn = (event: BeforeUnloadEvent) => shelf.unsaved() && event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [shelf, unsaved]);
}
