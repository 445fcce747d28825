import { useVirtualizer } from '@tanstack/react-virtual';
import { memo, useEffect, useMemo, useRef, useState, type RefObject } from 'react';
import { useLocation, useSearch } from 'wouter';
import type { Job, Run } from '../api/types';
import { useNow, useTrace } from '../live/live';
import { Waiting } from '../ui/bits';
import { Failure } from '../ui/boundary';
import { Icon } from '../ui/icons';
import { useKeys } from '../ui/keys';
import { SearchField } from '../ui/search-field';
import { useLatest } from '../ui/latest';
import { count, money, tokens } from '../words/money';
import { isLive } from '../words/states';
import { duration } from '../words/time';
import { Detail } from './detail';
import { bar, rowsOf, type Filter, type Row } from './rows';
import { kinds, type Kind, type Step, type Tree } from './tree';

const row_height = 28;

function Bar({ start, end, wait, tree, now, kind, failed }: { start: number; end?: number; wait: number; tree: Tree; now: number; kind: string; failed: boolean }) {
  const at = bar(start, end ?? now, wait, tree, now);
  return (
    <span className="wf" aria-hidden="true">
      <i className={`wf-bar wf-${kind}${failed ? ' failed' : ''}${end === undefined ? ' open' : ''}`} style={{ left: `${at.left * 100}%`, width: `max(2px, ${at.width * 100}%)` }}>
        {at.wait > 0 && <b style={{ width: `${at.wait * 100}%` }} />}
      </i>
    </span>
  );
}

type RowProps<R = Row> = { row: R; tree: Tree; now: number; live: boolean; selected: boolean; press: (row: Row) => void };

function SectionRow({ row, tree, now, live, selected, press }: RowProps<Extract<Row, { type: 'section' }>>) {
  const { section } = row;
  const going = live && tree.sections.at(-1) === section;
  const end = going ? undefined : section.end_ms;
  return (
    <button className={`tr section${selected ? ' selected' : ''}`} onClick={() => press(row)} aria-expanded={row.open} tabIndex={-1}>
      <span className="tr-main">
        <span className={row.open ? 'caret open' : 'caret'}>
          <Icon name="right" size={12} />
        </span>
        <strong>{section.title}</strong>
        <span className="tr-count">{count(row.shown, 'step')}</span>
        {section.failed > 0 && <span className="tr-failed">{section.failed} failed</span>}
      </span>
      <span className="tr-sum">
        {section.tokens > 0 && <span className="tr-tokens">{tokens(section.tokens)}</span>}
        {(section.cost_nano_usd ?? 0) > 0 && <span className="tr-money">{money(section.cost_nano_usd)}</span>}
        <span className="tr-time">{duration((end ?? now) - section.start_ms)}</span>
      </span>
      <Bar start={section.start_ms} end={end} wait={0} tree={tree} now={now} kind="section" failed={false} />
    </button>
  );
}

const sumOf = (steps: Step[]) => steps.reduce((sum, step) => sum + ((step.end_ms ?? step.start_ms) - step.start_ms), 0);

function StepRow({ row, tree, now, live, selected, press }: RowProps<Extract<Row, { type: 'step' }>>) {
  const { step } = row;
  const last = row.folded?.at(-1) ?? step;
  // A call without a result of a run that has ended never got one.
  const end = last.end_ms ?? (live ? undefined : tree.end_ms);
  const took = row.folded ? sumOf(row.folded) : (end ?? now) - step.start_ms;
  return (
    <button className={`tr step${selected ? ' selected' : ''}${step.failed ? ' failed' : ''}`} onClick={() => press(row)} aria-pressed={selected} tabIndex={-1}>
      <span className="tr-main">
        <span className={`kind kind-${step.kind}`}>{step.name}</span>
        {row.repeats > 1 && <span className="times">×{row.repeats}</span>}
        <span className="tr-detail">{step.detail}</span>
      </span>
      <span className="tr-sum">
        {step.tokens > 0 && <span className="tr-tokens">{tokens(step.tokens)}</span>}
        {(step.cost_nano_usd ?? 0) > 0 && <span className="tr-money">{money(step.cost_nano_usd)}</span>}
        {(took > 0 || end === undefined) && <span className="tr-time">{duration(took)}</span>}
      </span>
      <Bar start={step.start_ms} end={end} wait={step.wait_ms} tree={tree} now={now} kind={step.kind} failed={step.failed} />
    </button>
  );
}

// Scrolling draws new rows and leaves the others alone.
const OneRow = memo(function OneRow(props: RowProps) {
  return props.row.type === 'section' ? <SectionRow {...props} row={props.row} /> : <StepRow {...props} row={props.row} />;
});

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
              <OneRow row={row} tree={tree} now={now} live={live} press={press} selected={row.key === cursor || (row.type === 'step' && row.step === selected)} />
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
