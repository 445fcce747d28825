// What one has decided and the server has not confirmed: shown at once, saved in the background, one request at a time.
import { Refusal } from '../api/client';
import type { HunkVerdict, Review, ReviewEdit, ReviewHunk } from '../api/types';
import { keyOf, namedBy } from './paths';
import { apart, decidesNothing, isForGood, without } from './refused';

export type Decision = { verdict: HunkVerdict | null; reason: string | null };

export type Edit = {
  verdicts?: Map<string, Decision>;
  suggestions?: Map<string, boolean>;
  /** By key (paths.ts). */
  viewed?: Map<string, { viewed: boolean }>;
  summary?: string;
  send_drafts?: true;
};

/** `refused`: everything but what the server will not take is saved, and that was not looked at yet. */
export type SaveState = 'untouched' | 'saved' | 'saving' | 'failed' | 'refused';

/** What somebody else decided first, about something that one decided too. Theirs stands. */
export type Overtaken = { hunks: ReviewHunk[]; summary: boolean };

export type Ports = {
  send: (edit: ReviewEdit, revision: number) => Promise<Review>;
  read: () => Promise<Review>;
  /** The server's latest. */
  show: (review: Review) => void;
  overtaken: (by: Overtaken) => void;
  failed: (error: unknown) => void;
  /** The server will not take it: it is taken back. */
  refused: (part: Edit, error: Refusal) => void;
};

export const empty = (edit: Edit) => !edit.verdicts?.size && !edit.suggestions?.size && !edit.viewed?.size && edit.summary === undefined && !edit.send_drafts;

/** `later` on top of `first`. */
export function merged(first: Edit, later: Edit): Edit {
  const both = <V>(a?: Map<string, V>, b?: Map<string, V>) => (a || b ? new Map([...(a ?? []), ...(b ?? [])]) : undefined);
  return {
    verdicts: both(first.verdicts, later.verdicts),
    suggestions: both(first.suggestions, later.suggestions),
    viewed: both(first.viewed, later.viewed),
    summary: later.summary ?? first.summary,
    send_drafts: later.send_drafts ?? first.send_drafts,
  };
}

export function requestOf(edit: Edit): ReviewEdit {
  return {
    ...(edit.verdicts?.size && { verdicts: [...edit.verdicts].map(([hunk_id, { verdict, reason }]) => ({ hunk_id, verdict, ...(verdict && reason !== null && { reason }) })) }),
    ...(edit.suggestions?.size && { suggestions: [...edit.suggestions].map(([comment, accepted]) => ({ comment, accepted })) }),
    ...(edit.viewed?.size && { viewed: [...edit.viewed].map(([key, { viewed }]) => ({ ...namedBy(key), viewed })) }),
    ...(edit.summary !== undefined && { summary: edit.summary }),
    ...(edit.send_drafts && { send_drafts: true }),
  };
}

function countsOf(hunks: ReviewHunk[]): Review['counts'] {
  const with_verdict = (verdict: HunkVerdict | null) => hunks.filter((hunk) => hunk.verdict === verdict).length;
  return { accepted: with_verdict('accept'), rejected: with_verdict('reject'), undecided: with_verdict(null), stale: hunks.filter((hunk) => hunk.stale).length };
}

/** The review as it will be when the edit is saved. */
export function withEdit(review: Review, edit: Edit, me: string): Review {
  if (empty(edit)) return review;
  const decided = (hunk: ReviewHunk): ReviewHunk => {
    const mine = edit.verdicts?.get(hunk.hunk_id);
    return mine ? { ...hunk, ...mine, by: mine.verdict && me, from_run: null, stale: mine.verdict ? false : hunk.stale } : hunk;
  };
  const hunks = edit.verdicts?.size ? review.hunks.map(decided) : review.hunks;
  return {
    ...review,
    hunks,
    counts: countsOf(hunks),
    summary: edit.summary ?? review.summary,
    files: review.files.map((file) => (edit.viewed?.has(keyOf(file)) ? { ...file, viewed: edit.viewed.get(keyOf(file))!.viewed } : file)),
    comments: review.comments.map((comment) => (edit.suggestions?.has(comment.id) ? { ...comment, accepted: edit.suggestions.get(comment.id) ?? false } : comment)),
  };
}

/** Takes out of the edit what the others decided between two states of the review, and tells what that was. */
export function besides(edit: Edit, before: Review, now: Review): { left: Edit; by: Overtaken } {
  const known = new Map(before.hunks.map((hunk) => [hunk.hunk_id, hunk]));
  const by: Overtaken = { hunks: [], summary: false };
  const verdicts = new Map(edit.verdicts);
  for (const hunk of now.hunks) {
    const mine = verdicts.get(hunk.hunk_id);
    const old = known.get(hunk.hunk_id);
    if (!mine || !old || (hunk.verdict === old.verdict && hunk.reason === old.reason)) continue;
    verdicts.delete(hunk.hunk_id);
    if (hunk.verdict !== mine.verdict || hunk.reason !== mine.reason) by.hunks.push(hunk);
  }
  const touched = edit.summary !== undefined && now.summary !== before.summary && now.summary !== edit.summary;
  by.summary = touched;
  return { left: { ...edit, verdicts, summary: touched ? undefined : edit.summary }, by };
}

/** What was shown when somebody acted on it is what the server has. */
export function decidesAlike(shown: Review, saved: Review): boolean {
  const verdicts = new Map(saved.hunks.map((hunk) => [hunk.hunk_id, hunk.verdict]));
  const taken = new Map(saved.comments.map((comment) => [comment.id, comment.accepted]));
  return (
    (['accepted', 'rejected', 'undecided'] as const).every((which) => shown.counts[which] === saved.counts[which]) &&
    shown.hunks.every((hunk) => verdicts.get(hunk.hunk_id) === hunk.verdict) &&
    shown.comments.every((comment) => (taken.get(comment.id) ?? false) === comment.accepted) &&
    saved.comments.filter((comment) => comment.accepted).length === shown.comments.filter((comment) => comment.accepted).length
  );
}

const tries = 5;
/** So often a refused edit is tried in halves; then the rest of it counts as refused. */
const most_halves = 64;

export class Edits {
  private waiting: Edit = {};
  private sent: Edit = {};
  /** Of an edit that was refused, what is tried by itself: before what waits. */
  private parts: Edit[] = [];
  private taken_back: Edit = {};
  private busy = false;
  private failure = false;
  private touched = false;
  private readonly listeners = new Set<() => void>();
  private view: { review: Review; state: SaveState; taken_back: Edit };

  constructor(
    private known: Review,
    private readonly me: string,
    private readonly ports: Ports,
  ) {
    this.view = { review: known, state: 'untouched', taken_back: {} };
  }

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => void this.listeners.delete(listener);
  };

  snapshot = (): { review: Review; state: SaveState; taken_back: Edit } => this.view;

  unsaved = (): boolean => this.view.state !== 'untouched' && this.view.state !== 'saved';

  /** The server's state of the review, from wherever it was learned. */
  take(review: Review): void {
    if (review === this.known || review.revision < this.known.revision) return;
    if (review.revision > this.known.revision) this.yieldTo(review);
    this.known = review;
    this.tell();
  }

  change(edit: Edit): void {
    this.waiting = merged(this.waiting, edit);
    this.taken_back = without(this.taken_back, edit);
    this.failure = false;
    this.touched = true;
    this.tell();
    this.again();
  }

  /** Somebody has seen what was taken back: the review is what it is without that. */
  acknowledge(): void {
    this.taken_back = {};
    this.tell();
  }

  /** Tries to save what is not saved; whether that works shows in the state. */
  again(): void {
    void this.save().catch(() => {});
  }

  /** For an act on what is shown: its revision, when the server has saved exactly that. Throws Refusal else. */
  async confirmed(shown: Review): Promise<number> {
    const saved = await this.save();
    if (!decidesAlike(shown, saved)) throw new Refusal(412, 'precondition_failed', 'the review has changed, so nothing was done', 'Look at it again, then repeat it.');
    return saved.revision;
  }

  /** Resolves with what the server has when nothing is left to save; throws Refusal when something is. */
  async save(): Promise<Review> {
    if (this.busy) return this.settled();
    this.busy = true;
    this.failure = false;
    let tried = 0;
    let halves = 0;
    while (!this.failure && this.takeNext()) {
      const base = this.known;
      this.tell();
      try {
        const saved = await this.ports.send(requestOf(this.sent), this.known.revision);
        tried = 0;
        this.sent = {};
        this.known = saved;
        this.ports.show(saved);
      } catch (error) {
        const refused = this.sent;
        this.sent = {};
        if (error instanceof Refusal && error.status === 412 && ++tried < tries) await this.readAgain(refused, base);
        else if (isForGood(error)) this.takeApart(refused, error, ++halves > most_halves);
        else this.fail(error, refused);
      }
    }
    this.busy = false;
    this.tell();
    return this.outcome();
  }

  private takeNext(): boolean {
    const part = this.parts.shift();
    this.sent = part ?? this.waiting;
    if (!part) this.waiting = {};
    return !empty(this.sent);
  }

  private takeApart(edit: Edit, error: Refusal, whole: boolean): void {
    const { refused, rest } = apart(edit, error, whole);
    this.parts = [...rest, ...this.parts];
    // What was decided anew meanwhile is no loss.
    const lost = without(refused, this.waiting);
    if (empty(lost)) return;
    this.taken_back = merged(this.taken_back, lost);
    this.ports.refused(lost, error);
  }

  private outcome(): Review {
    if (this.failure) throw new Refusal(0, 'unsaved', 'not everything that you decided is saved, so nothing was done', 'Save it first: the bar above the changes has a button for it.');
    if (!decidesNothing(this.taken_back)) throw new Refusal(0, 'unsaved', 'the server refused something that you decided, so nothing was done', 'Look at what it refused first.');
    return this.known;
  }

  private settled(): Promise<Review> {
    return new Promise((done, refuse) => {
      const stop = this.subscribe(() => {
        if (this.busy) return;
        stop();
        try {
          done(this.outcome());
        } catch (error) {
          refuse(error);
        }
      });
    });
  }

  /** `base` is what one saw when `refused` was sent: what is known now may already hold what the others did. */
  private async readAgain(refused: Edit, base: Review): Promise<void> {
    try {
      const now = await this.ports.read();
      const { left, by } = besides(refused, base, now);
      this.take(now);
      this.waiting = merged(left, this.waiting);
      this.tellOvertaken(by);
      this.ports.show(now);
    } catch (error) {
      this.fail(error, refused);
    }
  }

  /** What the others said first stands; the rest of what waits is still to be saved. */
  private yieldTo(now: Review): void {
    const edits = [...this.parts, this.waiting].map((edit) => besides(edit, this.known, now));
    this.waiting = edits.at(-1)!.left;
    this.parts = edits.slice(0, -1).flatMap(({ left }) => (empty(left) ? [] : [left]));
    for (const { by } of edits) this.tellOvertaken(by);
  }

  private tellOvertaken(by: Overtaken): void {
    if (by.hunks.length || by.summary) this.ports.overtaken(by);
  }

  private fail(error: unknown, unsaved: Edit): void {
    this.waiting = [unsaved, ...this.parts, this.waiting].reduce(merged);
    this.parts = [];
    this.failure = true;
    this.ports.failed(error);
  }

  private stateWith(pending: Edit): SaveState {
    if (this.failure) return 'failed';
    if (!empty(pending)) return 'saving';
    if (!decidesNothing(this.taken_back)) return 'refused';
    return this.touched ? 'saved' : 'untouched';
  }

  private tell(): void {
    const pending = [this.sent, ...this.parts, this.waiting].reduce(merged);
    this.view = { review: withEdit(this.known, pending, this.me), state: this.stateWith(pending), taken_back: this.taken_back };
    for (const listener of [...this.listeners]) listener();
  }
}
