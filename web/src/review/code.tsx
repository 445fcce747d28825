// The diff itself. @pierre/diffs draws it: only what is in sight, highlighted by workers.
import type { CodeViewLineSelection, FileDiffMetadata, SelectedLineRange } from '@pierre/diffs';
import { CodeView, WorkerPoolContextProvider, type CodeViewHandle } from '@pierre/diffs/react';
import HighlightWorker from '@pierre/diffs/worker/worker.js?worker';
import { useEffect, useMemo, useRef, type ReactNode, type Ref } from 'react';
import { useLatest } from '../ui/latest';
import { useMedia } from '../ui/media';
import { head_height, highlighter, pool_size, shown } from './code-options';
import type { LineAnchor } from './drafts';
import { lastAbove } from './here';
import type { Item, Pinned, Spot } from './items';
import type { ViewChoice } from './view-choice';

export type CodeHandle = CodeViewHandle<Pinned, undefined>;

const pool = { workerFactory: () => new HighlightWorker(), poolSize: pool_size };

type Files = { oldFile: { name: string; contents: string }; newFile: { name: string; contents: string } } | { oldFile: null; newFile: { name: string; contents: string } };

type Props = {
  handle: Ref<CodeHandle>;
  items: Item[];
  choice: ViewChoice;
  head: (item: Item) => ReactNode;
  spot: (spot: Spot, item: Item) => ReactNode;
  top?: () => ReactNode;
  /** Absent: lines cannot be commented on. */
  onLines?: (lines: LineAnchor | undefined) => void;
  onComment?: (lines: LineAnchor) => void;
  onTop: (path: string) => void;
  load?: (file: FileDiffMetadata) => Promise<Files>;
};

/** Of a range over both sides the end's side counts. */
function linesOf(path: string, range: SelectedLineRange): LineAnchor {
  const end_side = range.endSide ?? range.side;
  const start = range.side === end_side ? range.start : range.end;
  return { path, side: end_side === 'deletions' ? 'base' : 'head', start_line: Math.min(start, range.end), end_line: Math.max(start, range.end) };
}

/** Two columns of a phone's width hold no line of code. */
const two_columns = '(min-width: 721px)';

/** The buttons that show more lines come without names and cannot be reached by keyboard. */
function nameButtons(node: HTMLElement): void {
  for (const button of node.shadowRoot?.querySelectorAll<HTMLElement>('[data-expand-button]') ?? []) {
    const where = 'expandDown' in button.dataset ? 'above' : 'expandUp' in button.dataset ? 'below' : 'between';
    button.setAttribute('aria-label', `Show more lines ${where}`);
    button.tabIndex = 0;
  }
}

function pressButton(event: KeyboardEvent): void {
  const target = event.composedPath()[0];
  if ((event.key !== 'Enter' && event.key !== ' ') || !(target instanceof HTMLElement) || target.dataset['expandButton'] === undefined) return;
  event.preventDefault();
  target.click();
}

export function Code({ handle, items, choice, head, spot, top, onLines, onComment, onTop, load }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const comment = useLatest((path: string, range: SelectedLineRange) => onComment?.(linesOf(path, range)));
  const comments = onComment !== undefined;
  const split = useMedia(two_columns) && choice.split;
  const options = useMemo(
    () => ({
      ...shown({ ...choice, split }),
      enableLineSelection: comments,
      enableGutterUtility: comments,
      lineHoverHighlight: comments ? ('number' as const) : ('disabled' as const),
      loadDiffFiles: load,
      onPostRender: nameButtons,
      onGutterUtilityClick: (range: SelectedLineRange, context: { item: { id: string } }) => comment(context.item.id, range),
    }),
    [split, choice, comments, load, comment],
  );
  const selected = useLatest((selection: CodeViewLineSelection | null) => onLines?.(selection ? linesOf(selection.id, selection.range) : undefined));
  useEffect(() => {
    // The view scrolls its own box and takes no attributes for it; what scrolls must be reachable by keyboard.
    box.current?.setAttribute('tabindex', '0');
    box.current?.setAttribute('role', 'region');
    box.current?.setAttribute('aria-label', 'Diff');
    box.current?.addEventListener('keydown', pressButton);
  }, []);
  return (
    <WorkerPoolContextProvider poolOptions={pool} highlighterOptions={highlighter}>
      <CodeView<Pinned>
        ref={handle}
        containerRef={box}
        className="code"
        items={items}
        options={options}
        renderCustomHeader={(item) => head(item as Item)}
        renderAnnotation={(annotation, _file, item) => spot(annotation.metadata.spot, item as Item)}
        renderCodeViewHeader={top}
        onSelectedLinesChange={selected}
        onScroll={(scroll_top, view) => {
          const at = lastAbove(items.length, (i) => view.getTopForItem(items[i]!.id) ?? Infinity, scroll_top + head_height);
          if (at >= 0) onTop(items[at]!.id);
        }}
      />
    </WorkerPoolContextProvider>
  );
}
