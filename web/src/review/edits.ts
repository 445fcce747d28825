// What one has decided and the server has not confirmed: shown at once, saved in the background, one request at a time.
import { Refusal } from '../api/client';
import type { Review, ReviewEdit } from '../api/types';
import { besides, decidesAlike, empty, merged, requestOf, withEdit, type Edit, type Overtaken } from './edit';
import { apart, decidesNothing, isForGood, without } from './refused';

/** `refused`: everything but what the server will not take is saved, and that was not looked at yet. */
export type SaveState = 'untouched' | 'saved' | 'saving' | 'failed' | 'refused';

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

  unsaved = (): boolean => this.view.state === 'saving' || this.view.state === 'failed';
  stuck = (): boolean => this.view.state === 'failed';

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
