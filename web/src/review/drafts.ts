// What somebody has typed and not sent: kept by the browser, so that a reload loses nothing. The server keeps what was saved as a draft.

/** A place in a review where something can be typed: "reason:HUNK", "note", "comment:head:12-13:src/a.py". */
export type Place = string;

export type LineAnchor = { path: string; side: 'base' | 'head'; start_line: number; end_line: number };

export const commentPlace = (at: LineAnchor): Place => `comment:${at.side}:${at.start_line}-${at.end_line}:${at.path}`;

export function anchorOf(place: Place): LineAnchor | undefined {
  const parts = /^comment:(base|head):(\d+)-(\d+):(.+)$/s.exec(place);
  if (!parts) return undefined;
  return { side: parts[1] as 'base' | 'head', start_line: Number(parts[2]), end_line: Number(parts[3]), path: parts[4]! };
}

type Store = Pick<Storage, 'getItem' | 'setItem' | 'removeItem' | 'key' | 'length'>;

/** Each text has an entry of its own in the browser, so that two tabs do not write over each other's. */
export class Drafts {
  /** What the browser had no room for stands here until the page is left. */
  private readonly homeless = new Map<Place, string>();

  constructor(
    private readonly store: Store,
    private readonly name: string,
  ) {}

  text(place: Place): string {
    return this.homeless.get(place) ?? this.store.getItem(this.name + place) ?? '';
  }

  /** An empty text is forgotten. */
  keep(place: Place, text: string): void {
    this.homeless.delete(place);
    try {
      if (text) this.store.setItem(this.name + place, text);
      else this.store.removeItem(this.name + place);
    } catch {
      this.homeless.set(place, text);
    }
  }

  places(): Place[] {
    return [...new Set([...namesOn(this.store, this.name).map((name) => name.slice(this.name.length)), ...this.homeless.keys()])];
  }
}

function namesOn(store: Store, start: string): string[] {
  return Array.from({ length: store.length }, (_, i) => store.key(i) ?? '').filter((name) => name.startsWith(start));
}

/** Of everybody their own: others may sit at the same browser later. */
const nameOf = (who: string) => `forge.typed/${encodeURIComponent(who)}/`;

export const draftsName = (who: string, job: string, run: number): string => `${nameOf(who)}${job}/${run}/`;

/** Of the form of a new job; `from` is the job that it began as. */
export const formName = (who: string, from = ''): string => `${nameOf(who)}new-job/${from}/`;

/** Leaves nothing of what somebody typed, anywhere. */
export function forgetDrafts(store: Store, who: string): void {
  for (const name of namesOn(store, nameOf(who))) store.removeItem(name);
}
