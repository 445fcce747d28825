import { lazy, Suspense, useMemo } from 'react';
import { Link, useLocation, useSearch } from 'wouter';
import { useSpending } from '../api/queries';
import type { Spending } from '../api/types';
import { costSearch, readCostFilter, spans, type CostFilter } from '../costs/filter';
import { days, firstDay, sumBy, total, type Sum } from '../costs/sums';
import { Panel, Waiting } from '../ui/bits';
import { Failure } from '../ui/boundary';
import { Icon } from '../ui/icons';
import { Meter, ShareCell, ShareHead } from '../ui/meter';
import { UsageCells, UsageHeads } from '../ui/usage';
import { useTitle } from '../ui/shell';
import { ScrollBox } from '../ui/scroll-box';
import { modelName } from '../words/model';
import { count, money, plain, tokens } from '../words/money';
import { repositoryName } from '../words/repository';

const DayChart = lazy(() => import('../costs/day-chart'));

/** An amount with a word, and how much of a budget it is. */
function Amount({ word, nano_usd, budget, more }: { word: string; nano_usd: number; budget?: number | null; more?: string }) {
  return (
    <div className="amount">
      <span className="soft">{word}</span>
      <strong>{money(nano_usd)}</strong>
      {budget ? (
        <>
          <span className="soft">of {money(budget)}</span>
          <Meter spent={nano_usd} budget={budget} label="Part of the day's budget that is spent" />
        </>
      ) : (
        <span className="soft">{more}</span>
      )}
    </div>
  );
}

type TableProps = { title: string; head: string; sums: Sum[]; name: (sum: Sum) => string; href?: (sum: Sum) => string };

function Table({ title, head, sums, name, href }: TableProps) {
  const most = Math.max(1, ...sums.map((sum) => sum.nano_usd));
  return (
    <Panel title={title}>
      <ScrollBox label={title}>
        <table>
          <thead>
            <tr>
              <th>{head}</th>
              <th className="right">Requests</th>
              <UsageHeads />
              <th className="right">Cost</th>
              <ShareHead />
            </tr>
          </thead>
          <tbody>
            {sums.map((sum) => (
              <tr key={sum.name}>
                <td className="mono" title={sum.name}>
                  {href ? <Link href={href(sum)}>{name(sum)}</Link> : name(sum)}
                </td>
                <td className="right">{plain(sum.requests)}</td>
                <UsageCells usage={sum.usage} />
                <td className="right" title={sum.unpriced_requests ? `${count(sum.unpriced_requests, 'request')} without a price not counted` : undefined}>
                  {money(sum.nano_usd)}
                  {sum.unpriced_requests > 0 && '*'}
                </td>
                <ShareCell part={sum.nano_usd / most} />
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollBox>
    </Panel>
  );
}

function Report({ report, filter }: { report: Spending; filter: CostFilter }) {
  const rows = useMemo(
    () => report.items.filter((row) => (!filter.repository || row.repository === filter.repository) && (!filter.model || row.model === filter.model)),
    [report, filter.repository, filter.model],
  );
  const by_day = useMemo(() => days(rows, report.from, report.to), [rows, report]);
  const all = total(rows);
  const used = all.usage.input + all.usage.output + all.usage.cache_read + all.usage.cache_write;
  const to = (change: Partial<CostFilter>) => `/costs${costSearch({ ...filter, ...change })}`;
  const filtered = filter.repository || filter.model;
  return (
    <>
      <div className="amounts">
        <Amount word="Today (UTC)" nano_usd={report.today_nano_usd} budget={report.day_budget_nano_usd} more="no budget for a day" />
        <Amount word={`${filter.days} days`} nano_usd={all.nano_usd} more={count(all.requests, 'request')} />
        <Amount word="A day, on average" nano_usd={Math.round(all.nano_usd / filter.days)} more={`${tokens(used)} tokens in all`} />
      </div>
      {filtered && (
        <p className="cost-filters">
          {filter.repository && (
            <Link className="button small" href={to({ repository: '' })}>
              {repositoryName(filter.repository)} <Icon name="cross" size={11} />
            </Link>
          )}
          {filter.model && (
            <Link className="button small" href={to({ model: '' })}>
              {modelName(filter.model)} <Icon name="cross" size={11} />
            </Link>
          )}
        </p>
      )}
      {rows.length === 0 ? (
        <Panel title="By day">
          <p className="soft">No model was asked in these days{filtered ? ' with this filter' : ''}.</p>
        </Panel>
      ) : (
        <>
          <Panel title="By day">
            <Suspense fallback={<div className="chart" style={{ height: 200 }} />}>
              <DayChart days={by_day} budget_nano_usd={filtered ? null : report.day_budget_nano_usd} />
            </Suspense>
          </Panel>
          <Table title="By repository" head="Repository" sums={sumBy(rows, 'repository')} name={(sum) => repositoryName(sum.name)} href={(sum) => to({ repository: sum.name })} />
          <Table title="By model" head="Model" sums={sumBy(rows, 'model')} name={(sum) => modelName(sum.name)} href={(sum) => to({ model: sum.name })} />
          {all.unpriced_requests > 0 && (
            <p className="soft">* {count(all.unpriced_requests, 'request')} went to models whose price is not known, and are in no sum of money. A row in the price file (models.prices_file) changes that.</p>
          )}
        </>
      )}
    </>
  );
}

export default function CostsPage() {
  const filter = readCostFilter(useSearch());
  const [, go] = useLocation();
  useTitle('Costs');
  const from = firstDay(Date.now(), filter.days);
  const spending = useSpending(from);
  return (
    <div className="page costs-page">
      <header className="page-line">
        <h1>Costs</h1>
        <span className="gap" />
        <div className="segments" role="group" aria-label="Days">
          {spans.map((span) => (
            <button key={span} type="button" aria-pressed={filter.days === span} onClick={() => go(`/costs${costSearch({ ...filter, days: span })}`)}>
              {span === 365 ? '1 year' : `${span} days`}
            </button>
          ))}
        </div>
        <a className="button" href={`/api/v1/costs.csv?from=${from}`} download title="All repositories and models of these days, as a table">
          {filter.repository || filter.model ? 'CSV of all' : 'CSV'}
        </a>
      </header>
      {spending.error ? <Failure error={spending.error} again={() => void spending.refetch()} /> : !spending.data ? <Waiting what="Adding up" /> : <Report report={spending.data} filter={filter} />}
    </div>
  );
}
