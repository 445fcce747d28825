import { memo } from 'react';
import { Ago, Chip, StateChip, Stat } from '../ui/bits';
import type { Seen } from '../live/seen';
import { money } from '../words/money';
import { repositoryName, shownTitle } from '../words/repository';
import { isLive, need, reasonWords } from '../words/states';
import { duration } from '../words/time';
import type { ListRow } from './job-filter';

/** What there is to say beside the title: why it waits, how long it runs, what came of it. */
function Remark({ row, running, now }: { row: Extract<ListRow, { type: 'job' }>; running: number; now: number }) {
  const { job, place } = row;
  const run = job.last_run;
  if (job.state === 'created') return <>not started</>;
  if (job.state === 'queued') return <>{place === 1 ? `next, ${running} at work` : `${place - 1} before it`}</>;
  if (isLive(job.state)) return <>{job.cancel_requested ? 'cancelling' : run?.started_ms ? duration(now - run.started_ms) : ''}</>;
  if (job.state === 'failed' && run?.reason) return <span className="tone-text-bad">{reasonWords(run.reason)}</span>;
  return run ? <Stat stat={run.diff_stat} /> : null;
}

type RowProps = {
  top: number;
  height: number;
  row: Extract<ListRow, { type: 'job' }>;
  current: boolean;
  picked: boolean;
  pickable: boolean;
  pick: (id: string) => void;
  running: number;
  now: number;
  seen: Seen;
};

// Scrolling draws new rows and leaves the others alone. A row has no hooks, and its link is followed by the list: dozens are made in a frame.
export const JobRow = memo(function JobRow({ top, height, row, current, picked, pickable, pick, running, now, seen }: RowProps) {
  const { job } = row;
  const needed = need(job, seen);
  return (
    <div className={`virtual job-row${current ? ' current' : ''}${picked ? ' picked' : ''}`} style={{ height, transform: `translateY(${top}px)` }}>
      {pickable && (
        <span className="job-pick">
          <input type="checkbox" checked={picked} onChange={() => pick(job.id)} aria-label={`Select ${job.title}`} tabIndex={-1} />
        </span>
      )}
      <span className="job-state">{needed ? <Chip tone={needed.tone}>{needed.word}</Chip> : <StateChip state={job.state} />}</span>
      <a className="job-title" href={`/jobs/${job.id}`} title={job.title}>
        {shownTitle(job.title)}
      </a>
      <span className="job-where" title={job.repository}>
        {repositoryName(job.repository)}
      </span>
      <span className="job-remark">
        <Remark row={row} running={running} now={now} />
      </span>
      <span className="job-cost">{job.last_run && (job.last_run.cost_nano_usd ?? 0) > 0 ? money(job.last_run.cost_nano_usd) : ''}</span>
      <Ago ms={job.created_ms} now={now} className="job-age" />
    </div>
  );
});
