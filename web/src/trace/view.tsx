import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useMemo, useRef, useState, type RefObject } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { Job, Run } from '../api/types';
import { useNow, useTrace } from '../live/live';
import { Waiting } from '../ui/bits';
import { Failure } from '../ui/boundary';
import { useKeys } from '../ui/keys';
import { SearchField } from '../ui/search-field';
import { useLatest } from '../ui/latest';
import { count } from '../words/money';
import { isLive } from '../words/states';
import { duration } from '../words/time';
import { Detail } from './detail';
import { TraceRow } from './row';
import { rowsOf, type Filter, type Row } from './rows';
import { kinds, type Kind, type Step, type Tree } from './tree';

const row_height = 28;

type Scroll = (index: number, align: 'auto' | 'end') => void;

type RowsProps = { rows: Row[]; tree: Tree; now: number; live: boolean; selected?: Step; cursor?: string; press: (row: Row) => void; scroll: RefObject<Scroll>; away: () => void };

/** The rows that are in view. Alone in its component, so that scrolling draws nothing else. */
function Rows({ rows, tree, now, live, selected, cursor, press, scroll, away }: RowsProps) {
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => row_height,
    getItemKey: (i) => rows[i]?.key ?? i,
    overscan: 12,
    useFlushSync: false,
  });
  scroll.current = (index, align) => virtual.scrollToIndex(index, { align });
  return (
    <div className="trace-rows" ref={box} tabIndex={0} role="region" aria-label="Steps" onWheel={(event) => event.deltaY < 0 && away()}>
      <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {virtual.getVirtualItems().map((item) => {
          const row = rows[item.index]!;
          return (
            <div key={item.key} className="virtual" style={{ height: item.size, transform: `translateY(${item.start}px)` }}>
              <TraceRow row={row} tree={tree} now={now} live={live} press={press} selected={row.key === cursor || (row.type === 'step' && row.step === selected)} />
            </div>
          );
        })}
      </div>
      {rows.length === 0 && <p className="empty">{tree.steps ? 'No step matches.' : 'Nothing has happened yet.'}</p>}
    </div>
  );
}

type ToolsProps = { filter: Filter; change: (filter: Filter) => void; tree: Tree; firstFailed?: () => void; follow: boolean; setFollow: (follow: boolean) => void; live: boolean; foldAll: () => void; folded: boolean };

function Tools({ filter, change, tree, firstFailed, follow, setFollow, live, foldAll, folded }: ToolsProps) {
  const present = useMemo(() => new Set(tree.sections.flatMap((section) => section.steps.map((step) => step.kind))), [tree, tree.steps]);
  const toggle = (kind: Kind) => {
    const next = new Set(filter.kinds);
    if (!next.delete(kind)) next.add(kind);
    change({ ...filter, kinds: next });
  };
  return (
    <div className="trace-tools" role="search">
      <SearchField
        page="Trace"
        word="Search in the trace"
        label="Search in the trace"
        placeholder="Search steps"
        value={filter.search}
        change={(search) => change({ ...filter, search })}
      />
      <div className="kinds" role="group" aria-label="Kinds of steps">
        {kinds
          .filter(({ kind }) => present.has(kind))
          .map(({ kind, word }) => (
            <button key={kind} className={`kind-toggle kind-${kind}`} aria-pressed={filter.kinds.has(kind)} onClick={() => toggle(kind)}>
              {word}
            </button>
          ))}
      </div>
      <span className="gap" />
      {firstFailed && (
        <>
          <button className="small" aria-pressed={filter.failed_only} onClick={() => change({ ...filter, failed_only: !filter.failed_only })}>
            Failed only
          </button>
          <button className="small" onClick={firstFailed}>
            First error <kbd>e</kbd>
          </button>
        </>
      )}
      <button className="small" onClick={foldAll}>
        {folded ? 'Unfold' : 'Fold'} all
      </button>
      {live && (
        <button className={`small${follow ? ' on' : ''}`} aria-pressed={follow} onClick={() => setFollow(!follow)}>
          Follow
        </button>
      )}
    </div>
  );
}

export default function TraceView({ job, run }: { job: Job; run: Run }) {
  const view = useTrace(job.id, run.number);
  const { tree, version } = view;
  const live = isLive(run.state) && !view.complete;
  const [place, go] = useLocation();
  const search = useSearch();
  const wanted = Number(new URLSearchParams(search).get('step')) || undefined;
  const [filter, setFilter] = useState<Filter>({ kinds: new Set(), failed_only: false, search: '' });
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const [unfolded, setUnfolded] = useState<ReadonlySet<number>>(new Set());
  const [follow, setFollow] = useState(live && wanted === undefined);
  const [cursor, setCursor] = useState<string>();
  const scroll = useRef<Scroll>(() => {});
  // While it runs, bars grow five times a second; a finished trace stands still.
  const ticking = useNow(live ? 200 : 0);
  const now = live ? Math.max(ticking, tree.end_ms) : tree.end_ms;
  const rows = useMemo(() => rowsOf(tree, filter, closed, unfolded), [tree, version, filter, closed, unfolded]);
  const selected = useMemo(() => findStep(tree, wanted), [tree, version, wanted]);

  const at = cursor === undefined ? -1 : rows.findIndex((row) => row.key === cursor);
  const select = (step: Step | undefined) => {
    go(`${place}${step ? `?step=${step.seq}` : ''}`, { replace: true });
    if (step) setCursor(`s${step.seq}`);
  };
  const press = useLatest((row: Row) => {
    setCursor(row.key);
    if (row.type === 'section') return fold(row.section.key, !row.open);
    setFollow(false);
    if (row.folded) setUnfolded(new Set([...unfolded, row.step.seq]));
    select(row.step);
  });
  const fold = (key: string, open: boolean) => {
    const next = new Set(closed);
    if (open) next.delete(key);
    else next.add(key);
    setClosed(next);
  };
  const move = (by: number) => {
    const next = Math.max(0, Math.min(rows.length - 1, at < 0 ? 0 : at + by));
    const row = rows[next];
    if (!row) return;
    setFollow(false);
    setCursor(row.key);
    scroll.current(next, 'auto');
    if (row.type === 'step') select(row.step);
  };
  const showStep = (seq: number) => {
    const step = findStep(tree, seq);
    if (!step) return;
    setFollow(false);
    setFilter({ kinds: new Set(), failed_only: false, search: '' });
    setClosed(new Set());
    select(step);
    requestAnimationFrame(() => setCursor(`s${step.seq}`));
  };

  // A step that was asked for by the address is brought into view once its row is there.
  const shown = useRef<number>(undefined);
  useEffect(() => {
    if (wanted === undefined || shown.current === wanted) return;
    const step = findStep(tree, wanted);
    const index = step ? rows.findIndex((row) => row.key === `s${step.seq}`) : -1;
    if (index < 0) return;
    shown.current = wanted;
    setCursor(`s${step!.seq}`);
    scroll.current(index, 'auto');
  }, [wanted, rows, tree]);
  useEffect(() => {
    if (follow && rows.length) scroll.current(rows.length - 1, 'end');
  }, [follow, rows.length]);

  const here = rows[at];
  useKeys('Trace', [
    { keys: 'j', word: 'Next step', moves: true, run: () => move(1) },
    { keys: 'k', word: 'Step before', moves: true, run: () => move(-1) },
    { keys: 'ArrowDown', word: '', hidden: true, moves: true, run: () => move(1) },
    { keys: 'ArrowUp', word: '', hidden: true, moves: true, run: () => move(-1) },
    { keys: 'ArrowRight', word: 'Unfold', run: () => here?.type === 'section' && fold(here.section.key, true) },
    { keys: 'ArrowLeft', word: 'Fold', run: () => here && (setCursor(here.section.key), fold(here.section.key, false)) },
    { keys: 'Enter', word: '', hidden: true, run: () => here && press(here) },
    { keys: 'e', word: 'First error', run: () => tree.first_failed !== undefined && showStep(tree.first_failed) },
    { keys: 'Escape', word: 'Close the step', run: () => select(undefined) },
    ...(live ? [{ keys: 'l', word: 'Follow what happens', run: () => setFollow(!follow) }] : []),
  ]);

  if (view.failure && !tree.steps) return <Failure error={view.failure} />;
  if (!view.loaded && !tree.steps) return <Waiting what="Reading the trace" />;
  const folded = closed.size > 0 && closed.size >= tree.sections.length;
  return (
    <div className={selected ? 'trace with-detail' : 'trace'}>
      <Tools
        filter={filter}
        change={setFilter}
        tree={tree}
        firstFailed={tree.first_failed === undefined ? undefined : () => showStep(tree.first_failed!)}
        follow={follow}
        setFollow={setFollow}
        live={live}
        folded={folded}
        foldAll={() => setClosed(folded ? new Set() : new Set(tree.sections.map((section) => section.key)))}
      />
      <div className="trace-body">
        <Rows rows={rows} tree={tree} now={now} live={live} selected={selected} cursor={cursor} press={press} scroll={scroll} away={() => setFollow(false)} />
        {selected && <Detail key={selected.seq} job={job.id} run={run.number} step={selected} tree={tree} close={() => select(undefined)} />}
      </div>
      <div className="trace-foot">
        <span>{count(tree.steps, 'step')}</span>
        <span>{duration(now - tree.start_ms)}</span>
        {live && <span className="tone-text-busy">still running</span>}
        <span className="legend wide-only">
          <i className="wf-wait" /> waiting for the model
        </span>
      </div>
    </div>
  );
}

/** The step that an event belongs to: a link may name any of its events. */
function findStep(tree: Tree, seq: number | undefined): Step | undefined {
  if (seq === undefined) return undefined;
  for (const section of tree.sections) {
    const found = section.steps.find((step) => step.events.some((event) => event.seq === seq));
    if (found) return found;
  }
  return undefined;
}
