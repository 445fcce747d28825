// Work that outlives the page on which it was done: to go to another page, or to be signed out meanwhile, loses nothing.
import { createContext, useContext, useEffect, useSyncExternalStore } from 'react';

/** What somebody did and the server may not have yet. */
export type Work = {
  unsaved: () => boolean;
  subscribe: (listener: () => void) => () => void;
};

export class Shelf {
  private readonly works = new Map<string, { work: Work; leave: () => void }>();
  private readonly listeners = new Set<() => void>();

  /** What was left under this name without being saved; else a new one. What is saved is let go of. */
  take<W extends Work>(name: string, make: () => W): W {
    for (const [each, { work, leave }] of this.works) {
      if (work.unsaved()) continue;
      leave();
      this.works.delete(each);
    }
    const left = this.works.get(name);
    if (left) return left.work as W;
    const work = make();
    this.works.set(name, { work, leave: work.subscribe(() => this.tell()) });
    return work;
  }

  unsaved = (): boolean => [...this.works.values()].some(({ work }) => work.unsaved());

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  private tell(): void {
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
    const warn = (event: BeforeUnloadEvent) => event.preventDefault();
    window.addEventListener('beforeunload', warn);
    return () => window.removeEventListener('beforeunload', warn);
  }, [unsaved]);
}
