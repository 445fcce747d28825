import { memo } from 'react';
import { Icon } from '../ui/icons';
import { count, money, tokens } from '../words/money';
import { duration } from '../words/time';
import { bar, type Row } from './rows';
import type { Step, Tree } from './tree';

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
export const TraceRow = memo(function TraceRow(props: RowProps) {
  return props.row.type === 'section' ? <SectionRow {...props} row={props.row} /> : <StepRow {...props} row={props.row} />;
});
