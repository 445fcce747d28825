import { useState } from 'react';
import type { Job, Run } from '../api/types';
import { Panel } from '../ui/bits';
import { useMay } from '../ui/shell';
import { dollars, money } from '../words/money';
import { dollarsIn, raised, type BudgetScope } from './budget';
import { useNewRun } from './new-run';

/** What can be done about a budget that this page cannot raise. */
const elsewhere: Record<Exclude<BudgetScope, 'run'>, string> = {
  job: 'All runs of this job share a budget of the server’s configuration (budget.job_usd), and it is spent.',
  day: 'All jobs of a day share a budget of the server’s configuration (budget.day_usd), and it is spent. It begins anew at midnight UTC.',
};

function More({ job, run }: { job: Job; run: Run }) {
  const start = useNewRun(job);
  const budget = job.budget.run_nano_usd ?? 0;
  const [usd, setUsd] = useState(dollars(raised(budget, run.cost_nano_usd)));
  const [wrong, setWrong] = useState('');
  const [busy, setBusy] = useState(false);
  const goOn = async () => {
    const next = dollarsIn(usd);
    if (next === undefined) return setWrong('an amount above 0, such as 1.50');
    if (Number(next) * 1e9 <= budget) return setWrong(`more than ${money(budget)}`);
    setWrong('');
    setBusy(true);
    const note = 'The budget ended the work before it was done. Go on from there and finish the task.';
    await start({ ...(run.head_commit ? { kind: 'follow_up', from_run: run.number } : { kind: 'retry' }), note, budget: { run_usd: next } });
    setBusy(false);
  };
  return (
    <form
      className="raise"
      onSubmit={(event) => {
        event.preventDefault();
        void goOn();
      }}
    >
      <label htmlFor="raise-budget">Budget of each run from now on</label>
      <span className="prefixed">
        <span>$</span>
        <input id="raise-budget" inputMode="decimal" value={usd} aria-invalid={wrong !== ''} onChange={(event) => setUsd(event.target.value)} />
      </span>
      <button className="primary" disabled={busy}>
        Raise it and go on
      </button>
      {wrong && (
        <span className="wrong" role="alert">
          {wrong}
        </span>
      )}
    </form>
  );
}

/** For a run that a budget stopped: more money where that is its own, and on from where it was. */
export function RaiseBudget({ job, run, scope }: { job: Job; run: Run; scope: BudgetScope }) {
  const may = useMay('operator');
  return (
    <Panel title="The budget is spent" tone="warn">
      <p>
        {scope === 'run' ? `${money(run.cost_nano_usd)} of ${money(job.budget.run_nano_usd)} were spent before the work was done.` : elsewhere[scope]}{' '}
        {run.head_commit ? 'What was done until then is kept: the next run can go on from there.' : 'Nothing was changed until then: the next run starts from the base.'}
      </p>
      {may && scope === 'run' && <More job={job} run={run} />}
    </Panel>
  );
}
