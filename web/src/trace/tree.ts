// A run's events as a tree: sections (preparing, turns, verify rounds, finishing) and the steps in them. Grouping goes by `turn` and by what came
// before, never by what comes after: a step keeps its place for good, also when the run ends.
import type { State, TraceEvent } from '../api/types';
import { modelName } from '../words/model';
import { stateWord } from '../words/states';
import { number, payload, shownText, text, texts } from './event';

export type Kind = 'model' | 'tool' | 'say' | 'think' | 'git' | 'sandbox' | 'setup' | 'network' | 'verify' | 'state' | 'note';

/** What a filter offers, in this order. */
export const kinds: { kind: Kind; word: string }[] = [
  { kind: 'model', word: 'Model' },
  { kind: 'tool', word: 'Tools' },
  { kind: 'say', word: 'Text' },
  { kind: 'think', word: 'Thinking' },
  { kind: 'verify', word: 'Verify' },
  { kind: 'network', word: 'Network' },
  { kind: 'git', word: 'Git' },
  { kind: 'sandbox', word: 'Sandbox' },
  { kind: 'setup', word: 'Setup' },
  { kind: 'state', word: 'State' },
  { kind: 'note', word: 'Notes' },
];

export type Step = {
  /** Of the event that began it: what a link to the step names. */
  seq: number;
  kind: Kind;
  /** "bash", "model", "git push". */
  name: string;
  /** The rest of the row: command, path, first line. */
  detail: string;
  start_ms: number;
  /** Nothing while it goes on. */
  end_ms?: number;
  failed: boolean;
  tokens: number;
  cost_nano_usd: number | null;
  /** The part of its time that was waiting: until the first token, before a retry. */
  wait_ms: number;
  events: TraceEvent[];
};

export type Section = {
  /** "prepare", "turn-3", "verify-1", "finish": stays the same as steps are added. */
  key: string;
  title: string;
  turn?: number;
  steps: Step[];
  start_ms: number;
  end_ms?: number;
  tokens: number;
  cost_nano_usd: number | null;
  failed: number;
};

export type Tree = { sections: Section[]; start_ms: number; end_ms: number; steps: number; last_seq: number; first_failed?: number };

export const emptyTree = (): Tree => ({ sections: [], start_ms: 0, end_ms: 0, steps: 0, last_seq: 0 });

/** Adds events of one run to the tree. Events that it has are passed over; the tree is changed in place. */
export class TreeBuilder {
  readonly tree = emptyTree();
  private readonly sections = new Map<string, Section>();
  private readonly calls = new Map<string, Step>();
  private last: Section | undefined;

  add(events: TraceEvent[]): void {
    for (const event of events) if (event.seq > this.tree.last_seq) this.addOne(event);
  }

  private addOne(event: TraceEvent): void {
    const { tree } = this;
    tree.last_seq = event.seq;
    if (!tree.start_ms) tree.start_ms = event.ts_ms;
    tree.end_ms = Math.max(tree.end_ms, event.ts_ms);
    const section = this.sectionOf(event);
    section.end_ms = Math.max(section.end_ms ?? 0, event.ts_ms);
    if (event.type === 'turn') return; // the section itself
    if (event.type === 'tool_result' && this.finish(section, event)) return;
    const step = stepOf(event);
    section.start_ms = Math.min(section.start_ms, step.start_ms);
    section.steps.push(step);
    tree.steps += 1;
    if (event.type === 'tool_call') this.calls.set(callKey(event), step);
    this.count(section, step);
  }

  /** The result of a call that is there; false when there is none. */
  private finish(section: Section, event: TraceEvent): boolean {
    const step = this.calls.get(callKey(event));
    if (!step) return false;
    this.calls.delete(callKey(event));
    step.events.push(event);
    // A call's event may have been stored long before the tool began: calls of one turn run one after the other.
    step.start_ms = Math.max(step.start_ms, event.ts_ms - (number(event, 'duration_ms') ?? 0));
    step.end_ms = event.ts_ms;
    step.failed = toolFailed(event);
    if (step.failed) {
      section.failed += 1;
      this.remember(step);
    }
    return true;
  }

  private count(section: Section, step: Step): void {
    section.tokens += step.tokens;
    if (step.cost_nano_usd !== null) section.cost_nano_usd = (section.cost_nano_usd ?? 0) + step.cost_nano_usd;
    if (!step.failed) return;
    section.failed += 1;
    this.remember(step);
  }

  private remember(step: Step): void {
    this.tree.first_failed = Math.min(this.tree.first_failed ?? Infinity, step.seq);
  }

  private sectionOf(event: TraceEvent): Section {
    const found = this.place(event);
    const there = this.sections.get(found.key);
    if (there) return (this.last = there);
    const section: Section = { ...found, steps: [], start_ms: event.ts_ms, end_ms: undefined, tokens: 0, cost_nano_usd: null, failed: 0 };
    this.sections.set(section.key, section);
    this.tree.sections.push(section);
    return (this.last = section);
  }

  private place(event: TraceEvent): { key: string; title: string; turn?: number } {
    if (event.turn !== undefined) return { key: `turn-${event.turn}`, title: `Turn ${event.turn}`, turn: event.turn };
    if (event.type === 'verify') {
      const round = number(event, 'round') ?? 0;
      return { key: `verify-${round}`, title: round ? `Verify, after repair ${round}` : 'Verify' };
    }
    const begun = this.last !== undefined && this.last.key !== 'prepare';
    if (!begun) return { key: 'prepare', title: 'Preparing' };
    if (ends.has(event.type) || (event.type === 'state' && event.data['to'] !== 'running')) return { key: 'finish', title: 'Finishing' };
    return this.last!;
  }
}

const ends = new Set(['git', 'sandbox', 'finding', 'terminal']);

const callKey = (event: TraceEvent) => `${event.turn ?? 0}/${text(event, 'id')}`;
const oneLine = (value: string) => (value.trimStart().split('\n', 1)[0] ?? '').slice(0, 300);

function toolFailed(event: TraceEvent): boolean {
  const code = number(event, 'exit_code');
  return event.data['ok'] === false || (code !== undefined && code !== 0);
}

const decisions: Record<string, string> = {
  allowed: 'reached',
  denied_host: 'blocked',
  denied_address: 'address blocked',
  denied_bytes: 'too much data',
  unresolved: 'unknown host',
  unreachable: 'no answer from',
};

/** What came of reaching for a host. */
export const decisionWord = (decision: string): string => decisions[decision] ?? decision.replaceAll('_', ' ');

const plain = { tokens: 0, cost_nano_usd: null, wait_ms: 0, failed: false };

function stepOf(event: TraceEvent): Step {
  const took = number(event, 'duration_ms') ?? 0;
  const base = { ...plain, seq: event.seq, start_ms: event.ts_ms - took, end_ms: event.ts_ms, events: [event] };
  const code = number(event, 'exit_code');
  switch (event.type) {
    case 'model':
      return { ...base, ...modelStep(event) };
    case 'tool_call':
      return { ...base, kind: 'tool', name: text(event, 'name'), detail: argumentLine(event), start_ms: event.ts_ms, end_ms: undefined };
    case 'tool_result':
      return { ...base, kind: 'tool', name: text(event, 'name'), detail: oneLine(shownText(payload(event, 'output'))), failed: toolFailed(event) };
    case 'text':
      return { ...base, kind: 'say', name: 'says', detail: oneLine(shownText(payload(event, 'text'))) };
    case 'thinking':
      return { ...base, kind: 'think', name: 'thinks', detail: oneLine(shownText(payload(event, 'text'))) };
    case 'setup':
    case 'verify':
      return { ...base, kind: event.type, name: event.type, detail: oneLine(text(event, 'command')), failed: code !== 0 };
    case 'git':
      return { ...base, kind: 'git', name: `git ${text(event, 'action')}`, detail: oneLine(text(event, 'detail')) };
    case 'sandbox':
      return { ...base, kind: 'sandbox', name: `sandbox ${text(event, 'action')}`, detail: sandboxLine(event) };
    case 'network':
      return { ...base, kind: 'network', name: decisionWord(text(event, 'decision')), detail: `${text(event, 'host')}:${number(event, 'port') ?? ''}`, failed: text(event, 'decision') !== 'allowed' };
    case 'retry':
      return retryStep(event, base);
    case 'state':
      return { ...base, kind: 'state', name: stateWord(event.data['to'] as State), detail: [text(event, 'reason').replaceAll('_', ' '), text(event, 'note')].filter(Boolean).join(', '), failed: event.data['to'] === 'failed' };
    default:
      return { ...base, kind: 'note', name: event.type.replaceAll('_', ' '), detail: noteLine(event), failed: event.data['level'] === 'error' };
  }
}

function modelStep(event: TraceEvent) {
  const usage = (event.data['usage'] ?? {}) as Record<string, number>;
  const status = number(event, 'status') ?? 200;
  const stop = text(event, 'stop_reason');
  return {
    kind: 'model' as const,
    name: 'model',
    detail: [modelName(text(event, 'model')), status === 200 ? '' : `status ${status}`, stop === 'dropped' ? 'broke off' : ''].filter(Boolean).join(' · '),
    failed: status >= 400 || stop === 'error' || stop === 'dropped',
    tokens: Object.values(usage).reduce((total, n) => total + n, 0),
    cost_nano_usd: number(event, 'cost_nano_usd') ?? null,
    wait_ms: number(event, 'time_to_first_token_ms') ?? 0,
  };
}

function retryStep(event: TraceEvent, base: Omit<Step, 'kind' | 'name' | 'detail'>): Step {
  const delay_ms = number(event, 'delay_ms') ?? 0;
  const status = number(event, 'status');
  return {
    ...base,
    kind: 'note',
    name: 'retry',
    detail: [`attempt ${number(event, 'attempt') ?? '?'}`, status ? `status ${status}` : '', text(event, 'message')].filter(Boolean).join(', '),
    start_ms: event.ts_ms,
    end_ms: event.ts_ms + delay_ms,
    wait_ms: delay_ms,
  };
}

/** The part of a tool's arguments that tells calls apart: the command, the path; else all of them. */
export function argumentLine(event: TraceEvent): string {
  const raw = shownText(payload(event, 'arguments'));
  try {
    const value = JSON.parse(raw) as Record<string, unknown>;
    for (const key of ['command', 'path', 'file_path', 'pattern', 'url', 'query', 'description'])
      if (typeof value[key] === 'string') return oneLine(value[key]);
  } catch {
    // Malformed or cut: shown as it is.
  }
  return oneLine(raw);
}

function sandboxLine(event: TraceEvent): string {
  const missing = texts(event, 'unenforced');
  return [text(event, 'driver'), text(event, 'template'), missing.length ? `not enforced: ${missing.join(', ')}` : ''].filter(Boolean).join(' · ');
}

function noteLine(event: TraceEvent): string {
  if (event.type === 'limit') return `${text(event, 'what').replaceAll('_', ' ')}: ${number(event, 'value')} of ${number(event, 'limit')}`;
  if (event.type === 'budget') return `${text(event, 'action')} (${text(event, 'scope')})`;
  if (event.type === 'compaction') return `${number(event, 'tokens_before')} > ${number(event, 'tokens_after')} tokens`;
  if (event.type === 'finding') return `${text(event, 'path')}: ${text(event, 'message')}`;
  return oneLine(text(event, 'message') || shownText(payload(event, 'text')) || [text(event, 'tool'), text(event, 'decision')].filter(Boolean).join(' '));
}

/** All that is written in a step, for the search. */
export function stepText(step: Step): string {
  return [step.name, step.detail, ...step.events.map((event) => JSON.stringify(event.data))].join('\n').toLowerCase();
}
