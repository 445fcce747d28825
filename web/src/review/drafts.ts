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

type Shelf = Pick<Storage, 'getItem' | 'setItem' | 'removeItem'>;

export class Drafts {
  private readonly texts: Map<Place, string>;

  constructor(
    private readonly shelf: Shelf,
    private readonly name: string,
  ) {
    this.texts = new Map(Object.entries(read(shelf, name)));
  }

  text(place: Place): string {
    return this.texts.get(place) ?? '';
  }

  /** An empty text is forgotten. */
  keep(place: Place, text: string): void {
    if (text) this.texts.set(place, text);
    else this.texts.delete(place);
    try {
      if (this.texts.size) this.shelf.setItem(this.name, JSON.stringify(Object.fromEntries(this.texts)));
      else this.shelf.removeItem(this.name);
    } catch {
      // No room: the text still stands in its field.
    }
  }

  places(): Place[] {
    return [...this.texts.keys()];
  }
}

function read(shelf: Shelf, name: string): Record<string, string> {
  try {
    const found: unknown = JSON.parse(shelf.getItem(name) ?? '{}');
    if (typeof found !== 'object' || found === null) return {};
    return Object.fromEntries(Object.entries(found).filter((pair): pair is [string, string] => typeof pair[1] === 'string'));
  } catch {
    return {};
  }
}

export const draftsName = (job: string, run: number): string => `forge.review.${job}.${run}`;
