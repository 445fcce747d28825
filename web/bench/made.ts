// Answers of the server as large as they may become, made up; both sides of a comparison are given the same.
import type { Diff, Job, Review, Run, TraceEvent } from '../src/api/types';

const began_ms = Date.now() - 3_600_000;
const kFiles = 40;
const kHunksPerFile = 25;
const kTurns = 3334; // of three steps each: a model's answer, a text, a call

export const job_id = '01jdk3v9x2m4q8r7w5t6y0zabc';

export function run(change: Partial<Run> = {}): Run {
  return {
    id: '01jdk3v9y8m4q8r7w5t6y0zabc', job: job_id, number: 1, kind: 'first', from_run: null, note: '', state: 'succeeded', reason: 'completed', error: null,
    branch: `forge/${job_id.slice(0, 10)}-1`, base_ref: 'refs/heads/main', base_commit: 'a'.repeat(40), head_commit: 'b'.repeat(40), pushed: true, summary: 'Done.',
    diff_stat: { files: kFiles, insertions: 8000, deletions: 4000 }, diff_blob: 'c'.repeat(64), usage: { input: 1, output: 1, cache_read: 0, cache_write: 0 },
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

const path = (file: number) => `src/part_${String(file).padStart(2, '0')}/worker.py`;
const line = (file: number, n: number, word: string) => `    ${word}_${n} = compute(part_${file}, "${word} ${n}", limit=${n * 7}) + offsets[${n % 16}]  # step ${n}`;

/** 20,000 lines of a patch: each hunk has 6 lines of context, 5 that went and 8 that came, and its head. */
function hunk(file: number, n: number): string {
  const at = n * 40 + 1;
  const context = (from: number) => [0, 1, 2].map((i) => ` ${line(file, from + i, 'value')}`);
  const gone = [0, 1, 2, 3, 4].map((i) => `-${line(file, at + 3 + i, 'before')}`);
  const came = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => `+${line(file, at + 3 + i, 'after')}`);
  return [`@@ -${at},11 +${at + n * 3},14 @@ def part_${file}():`, ...context(at), ...gone, ...came, ...context(at + 11)].join('\n');
}

const all = (count: number) => Array.from({ length: count }, (_, i) => i);

export const patch = all(kFiles)
  .map((file) => `diff --git a/${path(file)} b/${path(file)}\nindex 1111111..2222222 100644\n--- a/${path(file)}\n+++ b/${path(file)}\n${all(kHunksPerFile).map((n) => hunk(file, n)).join('\n')}\n`)
  .join('');

export const diff: Diff = { job: job_id, run: 1, stat: run().diff_stat, base_commit: run().base_commit, head_commit: run().head_commit, bytes: patch.length, replaced: 0, text: patch };

export const review: Review = {
  job: job_id, run: 1, revision: 1, status: 'waiting', summary: '', counts: { accepted: 0, rejected: 0, undecided: kFiles * kHunksPerFile, stale: 0 }, comments: [], applied: null,
  files: all(kFiles).map((file) => ({ path: path(file), old_path: path(file), change: 'modified', old_mode: '100644', new_mode: '100644', binary: false, insertions: 200, deletions: 125, content_hash: String(file).padStart(40, '0'), viewed: false })),
  hunks: all(kFiles * kHunksPerFile).map((i) => {
    const [file, n] = [Math.floor(i / kHunksPerFile), i % kHunksPerFile];
    const at = n * 40 + 1;
    return { hunk_id: i.toString(16).padStart(32, '0'), path: path(file), kind: 'text', old_start: at, old_lines: 11, new_start: at + n * 3, new_lines: 14, verdict: null, reason: null, by: null, at_ms: null, from_run: null, stale: false };
  }),
};
