import { describe, expect, test } from 'vitest';
import type { TraceEvent } from '../api/types';
import { bar, no_filter, rowsOf } from './rows';
import { TreeBuilder, type Tree } from './tree';

let seq = 0;
const event = (type: TraceEvent['type'], data: Record<string, unknown>, turn?: number, ts_ms?: number): TraceEvent => {
  ++seq;
  return { seq, ts_ms: ts_ms ?? seq * 1000, run: 1, type, data, ...(turn === undefined ? {} : { turn }) };
};
const call = (id: string, command: string, turn: number) => event('tool_call', { id, name: 'bash', arguments: { text: JSON.stringify({ command }) } }, turn);
const result = (id: string, turn: number, data: Record<string, unknown> = {}) =>
  event('tool_result', { id, name: 'bash', ok: true, exit_code: 0, duration_ms: 400, output: { text: 'fine' }, ...data }, turn);
const model = (turn: number, cost_nano_usd: number | null = 1000) =>
  event('model', { model: 'a/b', usage: { input: 10, output: 5, cache_read: 0, cache_write: 0 }, cost_nano_usd, duration_ms: 900, time_to_first_token_ms: 300, status: 200 }, turn);

/** Numbers the events 1, 2, ... in the order in which they were written down. */
function built(make: () => TraceEvent[]): { tree: Tree; events: TraceEvent[] } {
  seq = 0;
  const events = make();
  const builder = new TreeBuilder();
  builder.add(events);
  return { tree: builder.tree, events };
}
const outline = (tree: Tree) => tree.sections.map((section) => `${section.title}: ${section.steps.map((step) => step.name).join(', ')}`);

const whole = () => [
  event('state', { from: 'queued', to: 'preparing' }),
  event('git', { action: 'fetch', detail: 'refs/heads/main', duration_ms: 30 }),
  event('sandbox', { action: 'acquired', driver: 'local', duration_ms: 800 }),
  event('state', { from: 'preparing', to: 'running' }),
  event('turn', { number: 1 }, 1),
  model(1),
  event('text', { text: 'I look.' }, 1),
  call('c1', 'make test', 1),
  result('c1', 1, { ok: false, exit_code: 2 }),
  event('turn', { number: 2 }, 2),
  model(2),
  event('network', { host: 'packages.example.org', port: 443, decision: 'denied_host' }),
  event('verify', { command: 'make test', round: 0, exit_code: 0, duration_ms: 100 }),
  event('state', { from: 'running', to: 'finalizing' }),
  event('git', { action: 'commit', detail: 'abc' }),
  event('state', { from: 'finalizing', to: 'succeeded', reason: 'completed' }),
  event('terminal', { reason: 'completed', message: 'Done.' }),
];

describe('the tree of a run', () => {
  test('has sections in the order in which they began', () => {
    expect(outline(built(whole).tree)).toEqual([
      'Preparing: Preparing, git fetch, sandbox acquired, Running',
      'Turn 1: model, says, bash',
      'Turn 2: model, blocked',
      'Verify: verify',
      'Finishing: Finishing, git commit, Succeeded, terminal',
    ]);
  });

  test('groups by turn, also what is told after the next turn began', () => {
    const { tree } = built(() => [event('turn', { number: 1 }, 1), model(1), event('turn', { number: 2 }, 2), model(2), event('text', { text: 'late' }, 1)]);
    expect(outline(tree)).toEqual(['Turn 1: model, says', 'Turn 2: model']);
  });

  test('is the same when the events come one by one: nothing moves when a run ends', () => {
    const { tree, events } = built(whole);
    const builder = new TreeBuilder();
    const seen: string[][] = [];
    for (const each of events) {
      builder.add([each]);
      seen.push(builder.tree.sections.flatMap((section) => section.steps.map((step) => `${section.key}/${step.seq}`)));
    }
    expect(outline(builder.tree)).toEqual(outline(tree));
    for (const [i, steps] of seen.slice(1).entries()) expect(steps.filter((step) => seen[i]!.includes(step))).toEqual(seen[i]);
  });

  test('passes over what it has already', () => {
    const { tree, events } = built(whole);
    const builder = new TreeBuilder();
    builder.add(events.slice(0, 8));
    builder.add(events.slice(4));
    expect(outline(builder.tree)).toEqual(outline(tree));
  });

  test('joins a call and its result, and takes its time from the result', () => {
    const { tree } = built(() => [call('c1', 'make test', 1), result('c1', 1)]);
    expect(tree.sections[0]!.steps).toMatchObject([{ kind: 'tool', detail: 'make test', start_ms: 1600, end_ms: 2000, failed: false }]);
    expect(tree.steps).toBe(1);
  });

  test('keeps calls of different turns apart when their ids are the same', () => {
    const { tree } = built(() => [call('c1', 'one', 1), call('c1', 'two', 2), result('c1', 1)]);
    expect(tree.sections.map((section) => section.steps[0]!.end_ms !== undefined)).toEqual([true, false]);
  });

  test('shows a result whose call is not there', () => {
    const { tree } = built(() => [result('lost', 1)]);
    expect(tree.sections[0]!.steps).toMatchObject([{ kind: 'tool', detail: 'fine' }]);
  });

  test('adds up tokens and money, and knows the difference between free and unknown', () => {
    const { tree } = built(() => [model(1), model(1, 500), model(2, null)]);
    expect(tree.sections.map(({ tokens, cost_nano_usd }) => ({ tokens, cost_nano_usd }))).toEqual([
      { tokens: 30, cost_nano_usd: 1500 },
      { tokens: 15, cost_nano_usd: null },
    ]);
  });

  test('knows the first step that failed', () => {
    expect(built(whole).tree.first_failed).toBe(8);
    expect(built(() => [model(1)]).tree.first_failed).toBeUndefined();
  });

  test('shows arguments that are no JSON as they came', () => {
    const { tree } = built(() => [event('tool_call', { id: 'x', name: 'bash', arguments: { text: '{"command": "un' } }, 1)]);
    expect(tree.sections[0]!.steps[0]!.detail).toBe('{"command": "un');
  });
});

describe('the rows', () => {
  const none = new Set<never>();
  const rows = (tree: Tree, filter = no_filter, closed: ReadonlySet<string> = none, unfolded: ReadonlySet<number> = none) =>
    rowsOf(tree, filter, closed, unfolded).map((row) => (row.type === 'section' ? row.key : `${row.step.name}${row.repeats > 1 ? ` ×${row.repeats}` : ''}`));

  test('leave out the steps of a folded section, not the section', () => {
    expect(rows(built(() => [model(1), model(2)]).tree, no_filter, new Set(['turn-1']))).toEqual(['turn-1', 'turn-2', 'model']);
  });

  test('leave out sections in which nothing passes the filter', () => {
    const { tree } = built(whole);
    expect(rows(tree, { ...no_filter, kinds: new Set(['tool'] as const) })).toEqual(['turn-1', 'bash']);
    expect(rows(tree, { ...no_filter, failed_only: true })).toEqual(['turn-1', 'bash', 'turn-2', 'blocked']);
  });

  test('are found by what stands in arguments and output, whatever the case', () => {
    const { tree } = built(() => [call('a', 'ls', 1), result('a', 1, { output: { text: 'README.md' } }), call('b', 'true', 1)]);
    expect(rows(tree, { ...no_filter, search: 'readme' })).toEqual(['turn-1', 'bash']);
    expect(rows(tree, { ...no_filter, search: 'nowhere' })).toEqual([]);
  });

  test('fold a call that is made three times in a row, until somebody unfolds it', () => {
    const again = () => ['a', 'b', 'c'].flatMap((id) => [call(id, 'sleep 1', 1), result(id, 1)]);
    const { tree } = built(again);
    expect(rows(tree)).toEqual(['turn-1', 'bash ×3']);
    expect(rows(tree, no_filter, none, new Set([1]))).toEqual(['turn-1', 'bash', 'bash', 'bash']);
    expect(rows(built(() => again().slice(0, 4)).tree)).toEqual(['turn-1', 'bash', 'bash']);
  });

  test('have bars that stay inside the whole time', () => {
    const { tree } = built(() => [model(1), model(2)]);
    const at = bar(1500, 2000, 250, tree, tree.end_ms);
    expect(at).toEqual({ left: 0.5, width: 0.5, wait: 0.5 });
    expect(bar(0, 99_000, 0, tree, tree.end_ms)).toEqual({ left: 0, width: 1, wait: 0 });
  });
});
