import { useMemo, useState, type ReactNode } from 'react';
import { Link, useLocation } from 'wouter';
import { post } from '../api/client';
import type { Job, Run } from '../api/types';
import { useJobs, useTrace } from '../live/live';
import { requestKey, withHosts } from '../pages/job-form';
import { Command, Copy, Fold, Panel } from '../ui/bits';
import { Icon } from '../ui/icons';
import { Markdown } from '../ui/markdown';
import { Meter } from '../ui/meter';
import { useMay } from '../ui/shell';
import { toastRefusal } from '../ui/toasts';
import { count, money, tokens } from '../words/money';
import { modelName } from '../words/model';
import { isEnded, isLive } from '../words/states';
import { duration, moment } from '../words/time';
import { deniedHosts } from './network';
import { RaiseBudget } from './raise';
import { stoppedBy } from './budget';

function Verify({ run }: { run: Run }) {
  if (!run.verify.length) return null;
  const failed = run.verify.filter((each) => each.exit_code !== 0).length;
  return (
    <Panel title="Verify" tone={failed ? 'bad' : 'good'} extra={<span className="soft">{failed ? `${failed} of ${run.verify.length} failed` : 'passed'}</span>}>
      <ul className="verdicts">
        {run.verify.map((each, i) => (
          <li key={i} className={each.exit_code === 0 ? 'tone-text-good' : 'tone-text-bad'}>
            <Icon name={each.exit_code === 0 ? 'check' : 'cross'} size={14} />
            <code>{each.command}</code>
            {each.exit_code !== 0 && <span className="soft">exit {each.exit_code}</span>}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function Denied({ job, run }: { job: Job; run: Run }) {
  const { events, version } = useTrace(job.id, run.number);
  const denied = useMemo(() => deniedHosts(events), [events, version]);
  const may = useMay('operator');
  const { book } = useJobs();
  const [, go] = useLocation();
  const [busy, setBusy] = useState(false);
  if (!denied.length) return null;
  const again = async (hosts: string[]) => {
    setBusy(true);
    try {
      const next = await post<Job>('/api/v1/jobs', withHosts(job, hosts), { 'Idempotency-Key': requestKey() });
      book.put(next);
      go(`/jobs/${next.id}`);
    } catch (error) {
      toastRefusal('The job could not be created', error);
      setBusy(false);
    }
  };
  return (
    <Panel title="Blocked hosts" tone="warn" extra={may && isEnded(run.state) && denied.length > 1 && (
      <button className="small" disabled={busy} onClick={() => void again(denied.map((each) => each.host))}>
        Allow all and run again
      </button>
    )}>
      <ul className="hosts">
        {denied.map((each) => (
          <li key={`${each.host}:${each.port}`}>
            <code>
              {each.host}:{each.port}
            </code>
            <Link className="soft" href={`/jobs/${job.id}/runs/${run.number}/trace?step=${each.seq}`}>
              {count(each.times, 'attempt')}
            </Link>
            <span className="gap" />
            {may && isEnded(run.state) && (
              <button className="small" disabled={busy} onClick={() => void again([each.host])}>
                Allow and run again
              </button>
            )}
          </li>
        ))}
      </ul>
    </Panel>
  );
}

const Fact = ({ word, children }: { word: string; children: ReactNode }) => (
  <div>
    <dt>{word}</dt>
    <dd>{children}</dd>
  </div>
);

function Money({ job, run }: { job: Job; run: Run }) {
  const spent = run.cost_nano_usd;
  const budget = job.budget.run_nano_usd;
  const used = run.usage.input + run.usage.output + run.usage.cache_read + run.usage.cache_write;
  return (
    <div className="money">
      <div className="money-line">
        <strong>{money(spent)}</strong>
        <span className="soft">{budget === null ? 'no budget' : `of ${money(budget)}`}</span>
      </div>
      <Meter spent={spent ?? 0} budget={budget} label="Part of the budget that is spent" />
      <div className="soft small-text">
        {tokens(used)} tokens: {tokens(run.usage.output)} out, {tokens(run.usage.input)} in, {tokens(run.usage.cache_read)} from cache
      </div>
    </div>
  );
}

function Facts({ job, run, now }: { job: Job; run: Run; now: number }) {
  const waited = (run.started_ms ?? now) - run.created_ms;
  return (
    <aside className="facts" aria-label="Facts">
      <Money job={job} run={run} />
      <dl>
        <Fact word="Time">
          {run.started_ms ? duration((run.ended_ms ?? now) - run.started_ms) : '–'}
          {waited > 2000 && <span className="soft"> after {duration(waited)} in the queue</span>}
        </Fact>
        <Fact word="Agent">{job.adapter}</Fact>
        <Fact word="Model">
          <span className="mono" title={job.model}>
            {modelName(job.model ?? '')}
          </span>
        </Fact>
        <Fact word="Sandbox">
          {job.template} <span className="soft">({job.driver})</span>
        </Fact>
        <Fact word="Network">{job.network.allow_hosts.length ? job.network.allow_hosts.join(', ') : 'closed'}</Fact>
        <Fact word="Limits">
          {job.limits.max_turns} turns, {duration(job.limits.time_limit_s * 1000)}
        </Fact>
        <Fact word="Base">
          <span className="mono">{run.base_ref?.replace('refs/heads/', '') ?? job.base ?? 'default branch'}</span>
          {run.base_commit && <span className="mono soft"> {run.base_commit.slice(0, 8)}</span>}
        </Fact>
        {run.branch && (
          <Fact word={run.pushed ? 'Pushed to' : 'Branch'}>
            <span className="mono">{run.branch}</span> <Copy text={run.branch} label="Copy the branch" />
          </Fact>
        )}
        <Fact word="Repository">
          <span className="mono">{job.repository}</span>
        </Fact>
        <Fact word="Created">
          {moment(job.created_ms)} by {job.created_by}
        </Fact>
      </dl>
    </aside>
  );
}

function Result({ run, job }: { run: Run; job: Job }) {
  if (!run.head_commit) return null;
  return (
    <Panel title="Take it" extra={<Link href={`/jobs/${job.id}/runs/${run.number}/changes`}>Look at the changes</Link>}>
      {run.pushed && run.branch ? <Command text={`git fetch origin ${run.branch} && git switch --detach FETCH_HEAD`} /> : <Command text={`forge apply ${job.id.slice(0, 10)}`} />}
    </Panel>
  );
}

export function Overview({ job, run, now }: { job: Job; run: Run; now: number }) {
  const live = isLive(run.state);
  const { events, version } = useTrace(job.id, run.number);
  const spent = useMemo(() => stoppedBy(job, run, events), [job, run, events, version]);
  return (
    <div className="overview">
      <div className="overview-main">
        {run.error && !spent && (
          <Panel title="What went wrong" tone="bad">
            <p className="error-text">{run.error}</p>
          </Panel>
        )}
        {spent && <RaiseBudget key={run.id} job={job} run={run} scope={spent} />}
        {live && <Now job={job} run={run} />}
        {run.summary && (
          <Panel title="Summary" extra={<span className="soft">in the agent's words</span>}>
            <Markdown text={run.summary} />
          </Panel>
        )}
        <Verify run={run} />
        <Denied job={job} run={run} />
        {run.findings.length > 0 && (
          <Panel title="Findings">
            <ul className="findings">
              {run.findings.map((finding, i) => (
                <li key={i}>{finding}</li>
              ))}
            </ul>
          </Panel>
        )}
        {run.unenforced.length > 0 && (
          <Panel title="Not enforced by this sandbox" tone="warn">
            <ul className="findings">
              {run.unenforced.map((limit, i) => (
                <li key={i}>{limit}</li>
              ))}
            </ul>
          </Panel>
        )}
        <Result run={run} job={job} />
        {run.note && (
          <Panel title={`Said before run ${run.number}`}>
            <Markdown text={run.note} />
          </Panel>
        )}
        <Fold title="Task" open={job.task.length < 3000}>
          <Markdown text={job.task} />
          {(job.setup?.length ?? 0) > 0 && <CommandList word="Before the agent" commands={job.setup ?? []} />}
          {(job.verify?.length ?? 0) > 0 && <CommandList word="Must pass" commands={job.verify ?? []} />}
        </Fold>
      </div>
      <Facts job={job} run={run} now={now} />
    </div>
  );
}

const CommandList = ({ word, commands }: { word: string; commands: string[] }) => (
  <div className="command-list">
    <h3>{word}</h3>
    {commands.map((command, i) => (
      <pre key={i}>{command}</pre>
    ))}
  </div>
);

/** The last steps of a run that is at work. */
function Now({ job, run }: { job: Job; run: Run }) {
  const { tree } = useTrace(job.id, run.number);
  const section = tree.sections.at(-1);
  const steps = section?.steps.slice(-4) ?? [];
  return (
    <Panel title="Now" tone="busy" extra={<Link href={`/jobs/${job.id}/runs/${run.number}/trace`}>Watch the trace</Link>}>
      {section ? (
        <ol className="now">
          <li className="soft">{section.title}</li>
          {steps.map((step) => (
            <li key={step.seq}>
              <span className={`kind kind-${step.kind}`}>{step.name}</span>
              <span className="now-detail">{step.detail}</span>
            </li>
          ))}
        </ol>
      ) : (
        <p className="soft">Nothing has happened yet.</p>
      )}
    </Panel>
  );
}
