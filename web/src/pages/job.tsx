import { Suspense, lazy, useEffect, useState } from 'react';
import { Link, useLocation } from 'wouter';
import { useQueryClient } from '@tanstack/react-query';
import { post } from '../api/client';
import { useJob, useRuns } from '../api/queries';
import type { Job, Run } from '../api/types';
import { Actions } from '../job/actions';
import { Overview } from '../job/overview';
import { useJobs, useNow } from '../live/live';
import { markSeen } from '../live/seen';
import { Ago, ReviewChip, StateChip, Stat, Waiting } from '../ui/bits';
import { Boundary, Failure } from '../ui/boundary';
import { Icon } from '../ui/icons';
import { useKeys } from '../ui/keys';
import { useMay, useTitle } from '../ui/shell';
import { money } from '../words/money';
import { repositoryName, shownTitle } from '../words/repository';
import { isEnded, isLive, runSentence } from '../words/states';
import { duration } from '../words/time';

const Trace = lazy(() => import('../trace/view'));
const Review = lazy(() => import('../review/page'));
const Costs = lazy(() => import('../job/costs'));

const views = ['overview', 'trace', 'changes', 'costs'] as const;
export type View = (typeof views)[number];
const view_words: Record<View, string> = { overview: 'Overview', trace: 'Trace', changes: 'Changes', costs: 'Costs' };

const address = (job: string, run: number | undefined, view: View) => `/jobs/${job}${run ? `/runs/${run}` : ''}${view === 'overview' ? '' : `/${view}`}`;

const kind_words: Record<Run['kind'], string> = { first: '', retry: 'retry', follow_up: 'follow-up', fork: 'fork' };

/** Brings the run that is shown into sight where not all tabs have room. */
const inSight = (tab: HTMLAnchorElement | null) => tab?.scrollIntoView({ block: 'nearest', inline: 'nearest' });

function RunTabs({ job, runs, run, view }: { job: Job; runs: Run[]; run: Run; view: View }) {
  if (runs.length < 2) return null;
  return (
    <nav className="run-tabs" aria-label="Runs">
      {runs.map((each) => (
        <Link key={each.number} ref={each.number === run.number ? inSight : undefined} href={address(job.id, each.number, view)} className={each.number === run.number ? 'here' : ''} aria-current={each.number === run.number ? 'page' : undefined}>
          Run {each.number}
          {kind_words[each.kind] && <span className="soft">{kind_words[each.kind]}</span>}
          <StateChip state={each.state} />
        </Link>
      ))}
    </nav>
  );
}

function Head({ job, run, now }: { job: Job; run?: Run; now: number }) {
  const took = run?.started_ms ? (run.ended_ms ?? now) - run.started_ms : undefined;
  return (
    <header className="job-head">
      <div className="crumbs">
        <Link href="/">
          <Icon name="back" size={13} /> Jobs
        </Link>
        <span aria-hidden="true">/</span>
        <Link href={`/?repository=${encodeURIComponent(job.repository)}`} title={job.repository}>
          {repositoryName(job.repository)}
        </Link>
        <span className="gap" />
        <span className="mono soft wide-only" title={job.id}>
          {job.id.slice(0, 10)}
        </span>
      </div>
      <div className="job-line">
        <h1 title={job.title}>{shownTitle(job.title)}</h1>
        <Actions job={job} run={run} />
      </div>
      <div className="job-words">
        <StateChip state={run?.state ?? job.state} />
        {run && <ReviewChip status={run.review} />}
        {run && <span className="job-sentence">{job.cancel_requested && isLive(run.state) ? 'It has been told to stop.' : runSentence(run)}</span>}
        <span className="job-meta">
          {took !== undefined && <span title="Time of the run">{duration(took)}</span>}
          {run && (run.cost_nano_usd ?? 0) > 0 && <span title="Cost of the run">{money(run.cost_nano_usd)}</span>}
          {run && <Stat stat={run.diff_stat} />}
          <span>
            {job.created_by}, <Ago ms={run?.created_ms ?? job.created_ms} now={now} />
          </span>
        </span>
      </div>
    </header>
  );
}

export default function JobPage({ id, run: n, view: wanted = 'overview' }: { id: string; run?: string; view?: string }) {
  const { book } = useJobs();
  const [, go] = useLocation();
  const job = useJob(id, book.find(id));
  const runs = useRuns(id);
  const view = views.find((each) => each === wanted) ?? 'overview';
  const run = runs.data && (n ? runs.data.find((each) => String(each.number) === n) : runs.data.at(-1));
  const now = useNow(run && isLive(run.state) ? 1000 : 30_000);
  useTitle(job.data ? shownTitle(job.data.title) : 'Job');
  useEffect(() => {
    if (run && isEnded(run.state)) markSeen(run.id);
  }, [run]);
  const fixed = n ? run?.number : undefined;
  useKeys('Job', [
    ...views.map((each, i) => ({ keys: String(i + 1), word: view_words[each], run: () => go(address(id, fixed, each)) })),
    { keys: 'u', word: 'Back to the jobs', run: () => go('/') },
  ]);

  if (job.error) return <Failure error={job.error} again={() => void job.refetch()} />;
  if (!job.data) return <Waiting what="Reading the job" />;
  return (
    <div className={`job view-${view}`}>
      <Head job={job.data} run={run} now={now} />
      {runs.data && run && <RunTabs job={job.data} runs={runs.data} run={run} view={view} />}
      <nav className="tabs" aria-label="Views">
        {views.map((each) => (
          <Link key={each} href={address(id, fixed, each)} className={each === view ? 'here' : ''} aria-current={each === view ? 'page' : undefined}>
            {view_words[each]}
            {each === 'changes' && run && <Stat stat={run.diff_stat} />}
            {each === 'changes' && run?.review === 'waiting' && <i className="dot waits" title="Waits for a review" />}
          </Link>
        ))}
      </nav>
      {runs.error && <Failure error={runs.error} again={() => void runs.refetch()} />}
      {runs.data && n && !run && (
        <div className="empty">
          <p>This job has no run {n}.</p>
          <Link href={address(id, undefined, view)}>To its latest run</Link>
        </div>
      )}
      {runs.data && !n && !run && <NotStarted job={job.data} />}
      {run && (
        <Boundary at={`${run.id}/${view}`}>
          <Suspense fallback={<Waiting />}>
            {view === 'overview' && <Overview job={job.data} run={run} now={now} />}
            {view === 'trace' && <Trace key={run.id} job={job.data} run={run} />}
            {view === 'changes' && <Review key={run.id} job={job.data} run={run} runs={runs.data ?? []} />}
            {view === 'costs' && <Costs key={run.id} job={job.data} run={run} runs={runs.data ?? []} />}
          </Suspense>
        </Boundary>
      )}
    </div>
  );
}

function NotStarted({ job }: { job: Job }) {
  const client = useQueryClient();
  const may = useMay('operator');
  const [error, setError] = useState<unknown>();
  const start = async () => {
    try {
      await post(`/api/v1/jobs/${job.id}/run`, {});
      await client.invalidateQueries();
    } catch (refused) {
      setError(refused);
    }
  };
  return (
    <div className="empty">
      <p>This job was created without starting it.</p>
      {may && (
        <button className="primary" onClick={() => void start()}>
          Start it
        </button>
      )}
      {error !== undefined && <Failure error={error} />}
    </div>
  );
}
