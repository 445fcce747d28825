import { useState } from 'react';
import type { Job, Run } from '../api/types';
import { Panel } from '../ui/bits';
import { useMay } from '../ui/shell';
import { dollars, money } from '../words/money';
import { isEnded } from '../words/states';
import { useNewRun } from './new-run';
import { budgetOf, raised } from './budget';

/** True for the last run of an ended job when its budget stopped it. */
export const wantsMoreMoney = (job: Job, run: Run): boolean => run.reason === 'budget_exhausted' && run.number === job.last_run?.number && isEnded(job.state);

/** For a run that its budget stopped: more money, and on from where it was. */
export function RaiseBudget({ job, run }: { job: Job; run: Run }) {
  const start = useNewRun(job);
  const may = useMay('operator');
  const budget = job.budget.run_nano_usd;
  const [usd, setUsd] = useState(budget === null ? '' : dollars(raised(budget)));
  const [wrong, setWrong] = useState('');
  const [busy, setBusy] = useState(false);
  if (!wantsMoreMoney(job, run)) return null;
  const goOn = async () => {
    const next = budgetOf(usd);
    if (next === undefined) return setWrong('an amount above 0, such as 1.50');
    setWrong('');
    setBusy(true);
    const note = 'The budget ended the work before it was done. Go on from there and finish the task.';
    await start({ ...(run.head_commit ? { kind: 'follow_up', from_run: run.number } : { kind: 'retry' }), note, budget: { run_usd: next } });
    setBusy(false);
  };
  return (
    <Panel title="The budget is spent" tone="warn">
      <p>
        {money(run.cost_nano_usd)} of {money(budget)} were spent before the work was done.{' '}
        {run.head_commit ? 'What was done until then is kept: the next run goes on from there.' : 'Nothing was changed until then: the next run starts from the base.'}
      </p>
      {may && (
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
      )}
    </Panel>
  );
}
