// Answers of the server as large as they may become, made up; both sides of a comparison are given the same.
import type { Diff, Job, Review, ReviewEdit, Run, TraceEvent } from '../src/api/types';

const began_ms = Date.now() - 3_600_000;
const kTurns = 3334; // of three steps each: a model's answer, a text, a call

export const job_id = '01jdk3v9x2m4q8r7w5t6y0zabc';

export function run(change: Partial<Run> = {}): Run {
  return {
    id: '01jdk3v9y8m4q8r7w5t6y0zabc', job: job_id, number: 1, kind: 'first', from_run: null, note: '', state: 'succeeded', reason: 'completed', error: null,
    branch: `forge/${job_id.slice(0, 10)}-1`, base_ref: 'refs/heads/main', base_commit: 'a'.repeat(40), head_commit: 'b'.repeat(40), pushed: true, summary: 'Done.',
    diff_stat: { files: 40, insertions: 8000, deletions: 5000 }, diff_blob: 'c'.repeat(64), usage: { input: 1, output: 1, cache_read: 0, cache_write: 0 },
    cost_nano_usd: 34_134_000, verify: [], findings: [], unenforced: [], review: 'waiting', created_ms: began_ms, started_ms: began_ms, ended_ms: began_ms + 60_000, ...change,
  };
}

export function job(change: Partial<Job> = {}): Job {
  return {
    repository: 'https://git.example.com/shop.git', base: null, task: 'Make it faster', title: 'Make it faster', adapter: 'pi', model: 'anthropic/claude-sonnet-4-5',
    template: 'base', driver: 'local', setup: [], verify: [],
    limits: { max_turns: 50, time_limit_s: 1800, stall_limit_s: 300, max_tokens: 20_000_000, verify_rounds: 2 }, network: { allow_hosts: [] }, push: true,
    id: job_id, state: 'succeeded', review: 'waiting', budget: { run_nano_usd: null }, created_by: 'ada', created_ms: began_ms, cancel_requested: false, last_run: run(), ...change,
  };
}

/** Newest first. */
export function jobs(count: number): Job[] {
  const states = ['succeeded', 'failed', 'no_changes', 'cancelled'] as const;
  return Array.from({ length: count }, (_, i) => {
    const state = states[i % 4]!;
    const id = `01jdk${String(count - i).padStart(21, '0')}`;
    const repository = `https://git.example.com/team/service-${i % 23}.git`;
    return job({ id, state, repository, title: `Change number ${i}: rename what is called wrongly in part ${i % 97}`, review: i % 50 ? 'none' : 'waiting', created_ms: began_ms - i * 60_000, last_run: run({ id: `${id}r`, job: id, state, reason: state === 'failed' ? 'verify_failed' : 'completed' }) });
  });
}

type Made = Omit<TraceEvent, 'seq' | 'ts_ms' | 'run'>;

/** One turn: its beginning, an answer, a text, a call and its result; no two calls are the same. */
function turn(n: number): Made[] {
  const call = { id: 'c1', name: 'bash' };
  return [
    { type: 'turn', turn: n, data: { number: n } },
    { type: 'model', turn: n, data: { request_id: `r${n}`, model: 'anthropic/claude-sonnet-4-5', usage: { input: 900, output: 80, cache_read: 4000, cache_write: 0 }, cost_nano_usd: 3_900_000, duration_ms: 800, time_to_first_token_ms: 300, status: 200, stop_reason: 'tool_use' } },
    { type: 'text', turn: n, data: { text: { text: `I look at part ${n} of the work, because what came before it leaves a question open.` } } },
    { type: 'tool_call', turn: n, data: { ...call, arguments: { text: JSON.stringify({ command: `grep -rn "part ${n}" src | head -${n % 40}` }) } } },
    { type: 'tool_result', turn: n, data: { ...call, ok: n % 40 !== 0, exit_code: n % 40 ? 0 : 1, duration_ms: 120, bytes: 300, output: { text: `src/part_${n}.py:${n}: found it\n`.repeat(8) } } },
  ];
}

export function trace(turns = kTurns): TraceEvent[] {
  const events = Array.from({ length: turns }, (_, i) => turn(i + 1)).flat();
  return events.map((event, i) => ({ seq: i + 1, ts_ms: began_ms + i * 200, run: 1, ...event }));
}

/** What a run changed: so many files of so many hunks, each of 20 lines of the patch with its head, or of 10. */
export type Change = { files: number; hunks: number; lines: 20 | 10 };
const context = { 20: 3, 10: 1 } as const; // above and below
const gone = { 20: 5, 10: 3 } as const;
const came = { 20: 8, 10: 4 } as const;

const path = (file: number) => `src/area_${String(Math.floor(file / 40)).padStart(2, '0')}/part_${String(file % 40).padStart(2, '0')}/worker.py`;
const line = (file: number, n: number, word: string) => `    ${word}_${n} = compute(part_${file}, "${word} ${n}", limit=${n * 7}) + offsets[${n % 16}]  # step ${n}`;
const all = (count: number) => Array.from({ length: count }, (_, i) => i);

const placeOf = (n: number, lines: Change['lines']) => {
  const old_start = n * 40 + 1;
  return {
    old_start,
    old_lines: 2 * context[lines] + gone[lines],
    new_start: old_start + n * (came[lines] - gone[lines]),
    new_lines: 2 * context[lines] + came[lines],
  };
};

function hunkText(file: number, n: number, lines: Change['lines']): string {
  const at = placeOf(n, lines);
  const first = at.old_start + context[lines];
  const body = [
    ...all(context[lines]).map((i) => ` ${line(file, at.old_start + i, 'value')}`),
    ...all(gone[lines]).map((i) => `-${line(file, first + i, 'before')}`),
    ...all(came[lines]).map((i) => `+${line(file, first + i, 'after')}`),
    ...all(context[lines]).map((i) => ` ${line(file, first + gone[lines] + i, 'value')}`),
  ];
  return [`@@ -${at.old_start},${at.old_lines} +${at.new_start},${at.new_lines} @@ def part_${file}():`, ...body].join('\n');
}

const fileText = (file: number, { hunks, lines }: Change) =>
  `diff --git a/${path(file)} b/${path(file)}\nindex 1111111..2222222 100644\n--- a/${path(file)}\n+++ b/${path(file)}\n${all(hunks)
    .map((n) => hunkText(file, n, lines))
    .join('\n')}\n`;

export const patch = (change: Change): string =>
  all(change.files)
    .map((file) => fileText(file, change))
    .join('');

export function diff(text: string): Diff {
  const { diff_stat, base_commit, head_commit } = run();
  return { job: job_id, run: 1, stat: diff_stat, base_commit, head_commit, bytes: text.length, replaced: 0, text };
}

/** Nothing of it is decided yet. */
export function review({ files, hunks, lines }: Change): Review {
  return {
    job: job_id, run: 1, revision: 1, status: 'waiting', summary: '', counts: { accepted: 0, rejected: 0, undecided: files * hunks, stale: 0 }, comments: [], applied: null,
    files: all(files).map((file) => ({
      path: path(file), old_path: path(file), change: 'modified', old_mode: '100644', new_mode: '100644', binary: false,
      insertions: hunks * came[lines], deletions: hunks * gone[lines], content_hash: String(file).padStart(40, '0'), viewed: false,
    })),
    hunks: all(files * hunks).map((i) => {
      const [file, n] = [Math.floor(i / hunks), i % hunks];
      return { hunk_id: i.toString(16).padStart(32, '0'), path: path(file), kind: 'text', ...placeOf(n, lines), verdict: null, reason: null, by: null, at_ms: null, from_run: null, stale: false };
    }),
  };
}

/** As the server answers it. */
export function edited(review: Review, edit: ReviewEdit): Review {
  const verdicts = new Map(edit.verdicts?.map((each) => [each.hunk_id, each.verdict]));
  const viewed = new Map(edit.viewed?.map((each) => [each.path, each.viewed]));
  const hunks = review.hunks.map((hunk) => (verdicts.has(hunk.hunk_id) ? { ...hunk, verdict: verdicts.get(hunk.hunk_id) ?? null, by: 'ada', at_ms: Date.now() } : hunk));
  const decided = (verdict: string | null) => hunks.filter((hunk) => hunk.verdict === verdict).length;
  return {
    ...review, hunks, revision: review.revision + 1, counts: { accepted: decided('accept'), rejected: decided('reject'), undecided: decided(null), stale: 0 },
    files: review.files.map((file) => ({ ...file, viewed: viewed.get(file.path) ?? file.viewed })),
  };
}
