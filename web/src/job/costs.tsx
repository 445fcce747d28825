import { lazy, Suspense, useMemo } from 'react';
import { Link } from 'wouter';
import { useCost } from '../api/queries';
import type { Job, Run } from '../api/types';
import { useTrace } from '../live/live';
import { Panel, StateChip, Waiting } from '../ui/bits';
import { Failure } from '../ui/boundary';
import { ShareCell, ShareHead } from '../ui/meter';
import { UsageCells, UsageHeads } from '../ui/usage';
import { ScrollBox } from '../ui/scroll-box';
import { modelName } from '../words/model';
import { money, tokens } from '../words/money';
import { duration } from '../words/time';
import { spending } from './spending';

const Chart = lazy(() => import('./chart'));

export default function Costs({ job, run, runs }: { job: Job; run: Run; runs: Run[] }) {
  const cost = useCost(job.id, run.number);
  const { events, tree, version } = useTrace(job.id, run.number);
  const spent = useMemo(() => spending(events), [events, version]);
  const turns = tree.sections.filter((section) => section.turn !== undefined && section.tokens > 0);
  const most = Math.max(1, ...turns.map((turn) => turn.cost_nano_usd ?? 0));
  const total = runs.reduce((sum, each) => sum + (each.cost_nano_usd ?? 0), 0);
  if (cost.error) return <Failure error={cost.error} again={() => void cost.refetch()} />;
  if (!cost.data) return <Waiting what="Adding up" />;
  const reported = cost.data.reported_cost_nano_usd;
  return (
    <div className="costs">
      <Panel
        title={`Run ${run.number}, by model`}
        extra={
          <span className="soft">
            {cost.data.budget_nano_usd === null ? 'no budget' : `budget ${money(cost.data.budget_nano_usd)}`}
            {reported !== null && `, the agent itself says ${money(reported)}`}
          </span>
        }
      >
        <ScrollBox label="By model">
          <table>
            <thead>
              <tr>
                <th>Model</th>
                <th className="right">Requests</th>
                <UsageHeads />
                <th className="right">Cost</th>
              </tr>
            </thead>
            <tbody>
              {cost.data.models.map((model) => (
                <tr key={model.model}>
                  <td className="mono" title={model.model}>
                    {modelName(model.model)}
                  </td>
                  <td className="right">{model.requests}</td>
                  <UsageCells usage={model.usage} />
                  <td className="right">{money(model.cost_nano_usd)}</td>
                </tr>
              ))}
              {cost.data.models.length === 0 && (
                <tr>
                  <td colSpan={7} className="soft">
                    No model was asked.
                  </td>
                </tr>
              )}
            </tbody>
            {cost.data.models.length > 1 && (
              <tfoot>
                <tr>
                  <th colSpan={2}>Together</th>
                  <UsageCells usage={cost.data.usage} />
                  <td className="right">{money(cost.data.cost_nano_usd)}</td>
                </tr>
              </tfoot>
            )}
          </table>
        </ScrollBox>
        {cost.data.cost_nano_usd === null && <p className="soft">The price of a model is not known, so the sum is not, either. A row in the price file (models.prices_file) changes that.</p>}
      </Panel>
      {spent.length > 1 && (
        <Panel title="Spent over time">
          <Suspense fallback={<div className="chart" />}>
            <Chart points={spent} budget_nano_usd={cost.data.budget_nano_usd} />
          </Suspense>
        </Panel>
      )}
      {turns.length > 0 && (
        <Panel title="By turn">
          <ScrollBox label="By turn">
            <table>
              <thead>
                <tr>
                  <th>Turn</th>
                  <th className="right">Steps</th>
                  <th className="right">Time</th>
                  <th className="right">Tokens</th>
                  <th className="right">Cost</th>
                  <ShareHead />
                </tr>
              </thead>
              <tbody>
                {turns.map((turn) => (
                  <tr key={turn.key}>
                    <td>
                      <Link href={`/jobs/${job.id}/runs/${run.number}/trace?step=${turn.steps[0]?.seq ?? ''}`}>{turn.title}</Link>
                    </td>
                    <td className="right">{turn.steps.length}</td>
                    <td className="right">{duration((turn.end_ms ?? turn.start_ms) - turn.start_ms)}</td>
                    <td className="right">{tokens(turn.tokens)}</td>
                    <td className="right">{money(turn.cost_nano_usd)}</td>
                    <ShareCell part={(turn.cost_nano_usd ?? 0) / most} />
                  </tr>
                ))}
              </tbody>
            </table>
          </ScrollBox>
        </Panel>
      )}
      <Panel title="All runs of this job" extra={<span className="soft">{money(total)} together</span>}>
        <ScrollBox label="All runs">
          <table>
            <thead>
              <tr>
                <th>Run</th>
                <th>State</th>
                <th className="right">Time</th>
                <UsageHeads />
                <th className="right">Cost</th>
              </tr>
            </thead>
            <tbody>
              {runs.map((each) => (
                <tr key={each.id}>
                  <td>
                    <Link href={`/jobs/${job.id}/runs/${each.number}/costs`}>Run {each.number}</Link>
                  </td>
                  <td>
                    <StateChip state={each.state} />
                  </td>
                  <td className="right">{each.started_ms && each.ended_ms ? duration(each.ended_ms - each.started_ms) : '–'}</td>
                  <UsageCells usage={each.usage} />
                  <td className="right">{money(each.cost_nano_usd)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollBox>
      </Panel>
    </div>
  );
}
