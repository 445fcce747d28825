import { stepText, type Kind, type Section, type Step, type Tree } from './tree';

export type Row =
  | { type: 'section'; key: string; section: Section; open: boolean; shown: number }
  | { type: 'step'; key: string; section: Section; step: Step; repeats: number; folded?: Step[] };

export type Filter = {
  kinds: Set<Kind>;
  failed_only: boolean;
  search: string;
};

export const no_filter: Filter = { kinds: new Set(), failed_only: false, search: '' };

const filters = (filter: Filter) => filter.kinds.size > 0 || filter.failed_only || filter.search !== '';

function passes(step: Step, filter: Filter): boolean {
  if (filter.failed_only && !step.failed) return false;
  if (filter.kinds.size && !filter.kinds.has(step.kind)) return false;
  return !filter.search || stepText(step).includes(filter.search.toLowerCase());
}

/** The rows that are shown. `closed` holds sections that are folded, `unfolded` the first steps of repeated calls that are not. */
export function rowsOf(tree: Tree, filter: Filter, closed: ReadonlySet<string>, unfolded: ReadonlySet<number>): Row[] {
  const rows: Row[] = [];
  const filtered = filters(filter);
  for (const section of tree.sections) {
    const steps = filtered ? section.steps.filter((step) => passes(step, filter)) : section.steps;
    if (filtered && steps.length === 0) continue;
    const open = !closed.has(section.key);
    rows.push({ type: 'section', key: section.key, section, open, shown: steps.length });
    if (open) pushSteps(rows, section, steps, unfolded);
  }
  return rows;
}

const same = (a: Step, b: Step) => a.kind === 'tool' && b.kind === 'tool' && a.name === b.name && a.detail === b.detail && a.failed === b.failed;

/** Calls of the same thing one after the other are one row with their number, until somebody unfolds it. */
function pushSteps(rows: Row[], section: Section, steps: Step[], unfolded: ReadonlySet<number>): void {
  for (let i = 0; i < steps.length; ) {
    const step = steps[i]!;
    let end = i + 1;
    while (end < steps.length && same(step, steps[end]!)) ++end;
    const fold = end - i > 2 && !unfolded.has(step.seq);
    if (fold) rows.push({ type: 'step', key: `s${step.seq}`, section, step, repeats: end - i, folded: steps.slice(i, end) });
    else for (const each of steps.slice(i, end)) rows.push({ type: 'step', key: `s${each.seq}`, section, step: each, repeats: 1 });
    i = end;
  }
}

/** Where the bar of a row stands, in parts of the whole time. */
export function bar(start_ms: number, end_ms: number, wait_ms: number, tree: Tree, now_ms: number): { left: number; width: number; wait: number } {
  const whole = Math.max(1, Math.max(tree.end_ms, now_ms) - tree.start_ms);
  const left = Math.min(1, Math.max(0, (start_ms - tree.start_ms) / whole));
  const width = Math.max(0, Math.min(1 - left, (end_ms - start_ms) / whole));
  return { left, width, wait: end_ms > start_ms ? Math.min(1, wait_ms / (end_ms - start_ms)) : 0 };
}
