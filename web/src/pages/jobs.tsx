import { useVirtualizer } from '@tanstack/react-virtual';
import { useDeferredValue, useEffect, useLayoutEffect, useMemo, useRef, useState, type MouseEvent } from 'react';
import { useLocation, useSearch } from 'wouter';
import { post } from '../api/client';
import type { Job } from '../api/types';
import { most_jobs, type JobBook } from '../live/job-book';
import { useJobs, useLive, useNow, useSeen } from '../live/live';
import { Waiting } from '../ui/bits';
import { Failure } from '../ui/boundary';
import { Confirm } from '../ui/dialog';
import { useKeys } from '../ui/keys';
import { SearchField } from '../ui/search-field';
import { useLatest } from '../ui/latest';
import { useMay, useTitle } from '../ui/shell';
import { toast, toastRefusal } from '../ui/toasts';
import { count, plain } from '../words/money';
import { shownTitle } from '../words/repository';
import { isLive } from '../words/states';
import { FirstRun } from './first-run';
import { filterSearch, listRows, readFilter, repositories, states, type JobFilter, type ListRow } from './job-filter';
import { JobRow } from './job-row';

const group_height = 34;
const row_height = 38;
const narrow_row_height = 62;
const most_named = 5;
/** Head and filters. */
const above_list = 100;

const narrow = window.matchMedia('(max-width: 720px)');
function useNarrow(): boolean {
  const [is, setIs] = useState(narrow.matches);
  useEffect(() => {
    const changed = () => setIs(narrow.matches);
    narrow.addEventListener('change', changed);
    return () => narrow.removeEventListener('change', changed);
  }, []);
  return is;
}

function FilterBar({ filter, change, jobs }: { filter: JobFilter; change: (filter: JobFilter) => void; jobs: Job[] }) {
  const known = useMemo(() => repositories(jobs), [jobs]);
  return (
    <div className="filters" role="search">
      <SearchField page="Jobs" word="Search" label="Search the jobs" placeholder="Search title, task, branch, id" value={filter.q} change={(q) => change({ ...filter, q })} />
      <select aria-label="State" value={filter.state} onChange={(event) => change({ ...filter, state: event.target.value })}>
        <option value="">All states</option>
        {states.map((each) => (
          <option key={each.value} value={each.value}>
            {each.word}
          </option>
        ))}
      </select>
      <select aria-label="Repository" value={filter.repository} onChange={(event) => change({ ...filter, repository: event.target.value })}>
        <option value="">All repositories</option>
        {known.map((each) => (
          <option key={each.address} value={each.address}>
            {each.name}
          </option>
        ))}
      </select>
    </div>
  );
}

async function cancelAll(jobs: Job[], then: (job: Job) => void): Promise<void> {
  let failed = 0;
  for (const job of jobs) {
    try {
      then(await post<Job>(`/api/v1/jobs/${job.id}/cancel`, {}));
    } catch (error) {
      if (++failed === 1) toastRefusal('Cancelling failed', error);
    }
  }
  if (jobs.length > failed) toast(`${count(jobs.length - failed, 'job')} told to stop`);
}

const emptyWords = (book: JobBook) => {
  if (book.failure) return 'None of the jobs that were read matches.';
  if (!book.complete) return 'No job matches so far; older ones are still being read.';
  return book.capped ? `None of the newest ${plain(most_jobs)} jobs matches.` : 'No job matches.';
};

/** Below the list: why it does not hold all jobs. */
function Older({ book }: { book: JobBook }) {
  if (!book.failure && !book.capped) return null;
  return (
    <div className="older" role="status">
      {book.failure ? (
        <>
          <span>Older jobs could not be read.</span>
          <button className="small" onClick={() => void book.load()}>
            Try again
          </button>
        </>
      ) : (
        <span>These are the newest {plain(most_jobs)} jobs. Older ones are found by their address, and by <code>forge jobs</code>.</span>
      )}
    </div>
  );
}

export function JobsPage() {
  useTitle('Forge');
  const { jobs, book } = useJobs();
  const seen = useSeen();
  const search = useSearch();
  const [, go] = useLocation();
  const filter = readFilter(search);
  const deferred = useDeferredValue(search);
  const rows = useMemo(() => listRows(jobs, readFilter(deferred), seen), [jobs, deferred, seen]);
  const may_cancel = useMay('operator');
  const [picked, setPicked] = useState<ReadonlySet<string>>(new Set());
  const change = (next: JobFilter) => go(`/${filterSearch(next)}`, { replace: true });

  if (!book.ready && book.failure) return <Failure error={book.failure} again={() => void book.load()} />;
  if (book.ready && !jobs.length) return <FirstRun />;
  return (
    <div className="jobs">
      <h1 className="unseen">Jobs</h1>
      <FilterBar filter={filter} change={change} jobs={jobs} />
      {book.ready ? <JobList search={search} rows={rows} jobs={jobs} picked={picked} setPicked={setPicked} may_cancel={may_cancel} /> : <Waiting what="Reading the jobs" />}
      {book.ready && rows.length === 0 && (
        <div className="empty">
          <p>{emptyWords(book)}</p>
          <button onClick={() => go('/', { replace: true })}>Show all</button>
        </div>
      )}
      {book.ready && <Older book={book} />}
    </div>
  );
}

const named = (jobs: Job[]) => {
  const shown = jobs.slice(0, most_named).map((job) => `“${shownTitle(job.title)}”`);
  return `${shown.join(', ')}${jobs.length > shown.length ? `, and ${jobs.length - shown.length} more` : ''}.`;
};

type ListProps = { search: string; rows: ListRow[]; jobs: Job[]; picked: ReadonlySet<string>; setPicked: (picked: ReadonlySet<string>) => void; may_cancel: boolean };

function JobList({ search, rows, jobs, picked, setPicked, may_cancel }: ListProps) {
  const { book } = useJobs();
  const { place } = useLive();
  const seen = useSeen();
  const [, go] = useLocation();
  const box = useRef<HTMLDivElement>(null);
  const before = place.search === search ? place : undefined;
  // By its key: jobs come and go, and the cursor stays on the one that it is on.
  const [cursor, setCursor] = useState(before?.current);
  const current = cursor === undefined ? -1 : rows.findIndex((row) => row.key === cursor);
  const [asked, setAsked] = useState(false);
  const [painted, setPainted] = useState(false);
  const is_narrow = useNarrow();
  const running = jobs.filter((job) => isLive(job.state) && job.state !== 'queued').length;
  const now = useNow(running ? 1000 : 30_000);
  const height = is_narrow ? narrow_row_height : row_height;
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (i) => (rows[i]?.type === 'group' ? group_height : height),
    getItemKey: (i) => rows[i]?.key ?? i,
    // The first picture shows what is seen, and does not wait until the list has been measured.
    overscan: painted ? 8 : 0,
    initialRect: { width: window.innerWidth, height: window.innerHeight - above_list },
    initialOffset: before?.top ?? 0,
    useFlushSync: false,
  });
  useEffect(() => virtual.measure(), [virtual, height, rows]);
  const comes = useLatest((list: HTMLElement) => void (list.scrollTop = before?.top ?? 0));
  const goes = useLatest((list: HTMLElement) => void Object.assign(place, { search, top: list.scrollTop, current: cursor }));
  useLayoutEffect(() => {
    const list = box.current!;
    comes(list);
    return () => goes(list);
  }, [comes, goes]);
  useEffect(() => {
    const frame = requestAnimationFrame(() => setPainted(true));
    return () => cancelAnimationFrame(frame);
  }, []);

  // What a filter hides is not cancelled unseen.
  const stoppable = rows.flatMap((row) => (row.type === 'job' && picked.has(row.job.id) && isLive(row.job.state) ? [row.job] : []));
  const toggle = useLatest((id: string) => {
    const next = new Set(picked);
    if (!next.delete(id)) next.add(id);
    setPicked(next);
  });
  const move = (by: number) => {
    // Nothing is under the cursor yet: what is seen comes first.
    let at = current < 0 && by > 0 ? (virtual.range?.startIndex ?? 0) : current + by;
    while (rows[at]?.type === 'group') at += by;
    const row = rows[at];
    if (!row) return;
    setCursor(row.key);
    virtual.scrollToIndex(at, { align: 'auto' });
  };
  const follow = (event: MouseEvent<HTMLElement>) => {
    const address = (event.target as Element).closest('a.job-title')?.getAttribute('href');
    // What opens another tab or window is the browser's.
    if (!address || event.button !== 0 || event.metaKey || event.ctrlKey || event.shiftKey || event.altKey) return;
    event.preventDefault();
    go(address);
  };
  const here = rows[current];
  useKeys('Jobs', [
    { keys: 'j', word: 'Next job', moves: true, run: () => move(1) },
    { keys: 'k', word: 'Job before', moves: true, run: () => move(-1) },
    { keys: 'ArrowDown', word: '', hidden: true, moves: true, run: () => move(1) },
    { keys: 'ArrowUp', word: '', hidden: true, moves: true, run: () => move(-1) },
    { keys: 'Enter', word: 'Open the job', run: () => here?.type === 'job' && go(`/jobs/${here.job.id}`) },
    ...(may_cancel
      ? [
          { keys: 'x', word: 'Select the job', run: () => here?.type === 'job' && toggle(here.job.id) },
          { keys: 'c', word: 'Cancel the selected jobs', run: () => stoppable.length > 0 && setAsked(true) },
        ]
      : []),
  ]);
  return (
    <>
      <div className="job-list" ref={box} tabIndex={0} role="region" aria-label="Jobs" onClick={follow}>
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index]!;
            if (row.type === 'group') {
              return (
                <h2 key={item.key} className={`virtual job-group ${row.key}`} style={{ height: item.size, transform: `translateY(${item.start}px)` }}>
                  {row.word} <span>{plain(row.count)}</span>
                </h2>
              );
            }
            return (
              <JobRow
                key={item.key}
                row={row}
                top={item.start}
                height={item.size}
                current={item.index === current}
                picked={picked.has(row.job.id)}
                pickable={may_cancel && isLive(row.job.state)}
                pick={toggle}
                running={running}
                now={now}
                seen={seen}
              />
            );
          })}
        </div>
      </div>
      {stoppable.length > 0 && (
        <div className="bulk" role="region" aria-label="Selected jobs">
          <span>{count(stoppable.length, 'job')} selected</span>
          <button className="ghost" onClick={() => setPicked(new Set())}>
            Select none
          </button>
          <button className="danger" onClick={() => setAsked(true)}>
            Cancel {count(stoppable.length, 'job')}
          </button>
        </div>
      )}
      <Confirm
        open={asked}
        onClose={() => setAsked(false)}
        onYes={() => {
          setPicked(new Set());
          void cancelAll(stoppable, (job) => book.put(job));
        }}
        title={`Cancel ${count(stoppable.length, 'job')}?`}
        text={`${named(stoppable)} What the agents did until now is kept, and is not pushed.`}
        yes={`Cancel ${count(stoppable.length, 'job')}`}
        danger
      />
    </>
  );
}
