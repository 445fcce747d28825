import type { RefObject } from 'react';
import type { ReviewHunk } from '../api/types';
import type { CodeHandle } from './code';
import { useDesk } from './desk';
import type { Item } from './items';
import { keyOf } from './paths';

/** Of a hunk that does not fit into a window the beginning is shown. */
const long_hunk_lines = 24;

/** Where a hunk is, for the diff view: above the lines of its file, or a range of them. */
function targetOf(hunk: ReviewHunk, item: Item) {
  const place = item.annotations?.find(({ metadata: { spot } }) => spot.kind === 'hunk' && spot.hunk === hunk.hunk_id);
  if (!place || place.lineNumber === 0) return { type: 'item', id: item.id, align: 'start' } as const;
  const end = place.lineNumber;
  const start = Math.min(end, place.side === 'additions' ? hunk.new_start : hunk.old_start);
  const align = end - start > long_hunk_lines ? 'start' : 'center';
  return { type: 'range', id: item.id, range: { start, end, side: place.side, endSide: place.side }, align } as const;
}

type Moves = { code: RefObject<CodeHandle | null>; items: Item[]; fold: (path: string, folded: boolean) => void; onFile: (path: string) => void };

/** Going to a file or a hunk; a folded one is unfolded. */
export function useMoves({ code, items, fold, onFile }: Moves) {
  const { look } = useDesk();
  const showFile = (path: string | undefined) => {
    if (path === undefined) return;
    onFile(path);
    code.current?.scrollTo({ type: 'item', id: path, align: 'start' });
  };
  const showHunk = (hunk: ReviewHunk | undefined) => {
    const item = hunk && items.find(({ id }) => id === keyOf(hunk));
    if (!hunk || !item) return;
    look(hunk.hunk_id);
    onFile(item.id);
    if (item.collapsed) fold(item.id, false);
    // What was folded has its lines in the next frame.
    requestAnimationFrame(() => code.current?.scrollTo(targetOf(hunk, item)));
  };
  return { showFile, showHunk };
}
