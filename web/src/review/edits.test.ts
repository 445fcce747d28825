import { describe, expect, test } from 'vitest';
import { Refusal } from '../api/client';
import type { Review, ReviewEdit, ReviewHunk } from '../api/types';
import { requestOf, withEdit, type Decision, type Edit, type Overtaken } from './edit';
import { Edits } from './edits';

const hunk = (hunk_id: string, change: Partial<ReviewHunk> = {}) => ({ hunk_id, path: 'a', kind: 'text', verdict: null, reason: null, by: null, stale: false, from_run: null, ...change }) as ReviewHunk;
const with_verdict = (hunks: ReviewHunk[], verdict: Decision['verdict']) => hunks.filter((each) => each.verdict === verdict).length;
const review = (revision: number, hunks: ReviewHunk[], change: Partial<Review> = {}) =>
  ({ revision, hunks, files: [], comments: [], summary: '', counts: { accepted: with_verdict(hunks, 'accept'), rejected: with_verdict(hunks, 'reject'), undecided: with_verdict(hunks, null), stale: 0 }, ...change }) as unknown as Review;

/** A server with two hunks; another reviewer may change it. */
class Desk {
  now = review(1, [hunk('a'), hunk('b')]);
  asked: [ReviewEdit, number][] = [];
  overtaken: Overtaken[] = [];
  failures: unknown[] = [];
  down = false;
  refused: [Edit, string][] = [];
  /** Says why an edit is refused, if it is. */
  refuses: (edit: ReviewEdit) => Refusal | undefined = () => undefined;
  /** Holds every request until it is released. */
  gate: Promise<void> = Promise.resolve();
  edits = new Edits(this.now, 'ada', {
    send: async (edit, revision) => {
      this.asked.push([edit, revision]);
      await this.gate;
      if (this.down) throw new Refusal(0, 'unavailable', 'away');
      if (revision !== this.now.revision) throw new Refusal(412, 'precondition_failed', 'changed');
      const refusal = this.refuses(edit);
      if (refusal) throw refusal;
      return this.put('ada', edit);
    },
    read: async () => this.now,
    show: () => {},
    overtaken: (by) => this.overtaken.push(by),
    failed: (error) => this.failures.push(error),
    refused: (part, error) => this.refused.push([part, error.message]),
  });

  put(by: string, edit: ReviewEdit): Review {
    const said = new Map(edit.verdicts?.map((each) => [each.hunk_id, each]));
    const hunks = this.now.hunks.map((each) => {
      const verdict = said.get(each.hunk_id);
      return verdict ? { ...each, verdict: verdict.verdict, reason: verdict.reason ?? null, by } : each;
    });
    return (this.now = review(this.now.revision + 1, hunks, { summary: edit.summary ?? this.now.summary }));
  }

  decide(id: string, verdict: Decision['verdict'], reason: string | null = null): void {
    this.edits.change({ verdicts: new Map([[id, { verdict, reason }]]) });
  }

  get verdicts() {
    return this.now.hunks.map((each) => `${each.verdict ?? '-'} ${each.by ?? ''}`.trim());
  }
}

describe('a decision', () => {
  test('shows before it is saved', () => {
    const desk = new Desk();
    desk.decide('a', 'accept');
    const { review: shown, state } = desk.edits.snapshot();
    expect([shown.hunks[0]?.verdict, shown.hunks[0]?.by, shown.counts, state]).toEqual(['accept', 'ada', { accepted: 1, rejected: 0, undecided: 1, stale: 0 }, 'saving']);
  });
  test('made while another is on its way goes with the next request', async () => {
    const desk = new Desk();
    desk.decide('a', 'accept');
    desk.decide('b', 'reject', 'no');
    desk.decide('a', null);
    await desk.edits.save();
    expect(desk.asked.map(([edit, revision]) => [edit.verdicts?.length, revision])).toEqual([[1, 1], [2, 2]]); // prettier-ignore
    expect([desk.verdicts, desk.edits.snapshot().state]).toEqual([['- ada', 'reject ada'], 'saved']);
  });
  test('that was not saved stays shown, and is saved with the next', async () => {
    const desk = new Desk();
    desk.down = true;
    desk.decide('a', 'accept');
    await expect(desk.edits.save()).rejects.toMatchObject({ code: 'unsaved' });
    expect([desk.edits.snapshot().state, desk.edits.snapshot().review.hunks[0]?.verdict, desk.failures.length]).toEqual(['failed', 'accept', 1]);
    desk.down = false;
    desk.decide('b', 'accept');
    await desk.edits.save();
    expect(desk.verdicts).toEqual(['accept ada', 'accept ada']);
  });
});

describe('an act on the review', () => {
  const shown = (desk: Desk) => desk.edits.snapshot().review;
  test('goes on with the revision of what is saved', async () => {
    const desk = new Desk();
    desk.decide('a', 'reject');
    expect(await desk.edits.confirmed(shown(desk))).toBe(2);
  });
  test('stops when a decision could not be saved, also one that was on its way', async () => {
    const desk = new Desk();
    desk.put('ada', { verdicts: [{ hunk_id: 'a', verdict: 'accept' }] });
    desk.edits.take(desk.now);
    desk.down = true;
    desk.decide('a', 'reject');
    await expect(desk.edits.confirmed(shown(desk))).rejects.toMatchObject({ code: 'unsaved' });
    await expect(desk.edits.confirmed(shown(desk))).rejects.toMatchObject({ code: 'unsaved' });
    expect(desk.verdicts[0]).toBe('accept ada');
  });
  test('stops when the server has other verdicts than those that were shown, though as many', async () => {
    const desk = new Desk();
    desk.put('bob', { verdicts: [{ hunk_id: 'a', verdict: 'accept' }] });
    desk.edits.take(desk.now);
    const seen = shown(desk);
    desk.edits.take(desk.put('bob', { verdicts: [{ hunk_id: 'a', verdict: null }, { hunk_id: 'b', verdict: 'accept' }] })); // prettier-ignore
    await expect(desk.edits.confirmed(seen)).rejects.toMatchObject({ status: 412 });
  });
});

describe('what the server refuses for good', () => {
  const verdicts = (entries: [string, Decision][]): Edit => ({ verdicts: new Map(entries) });
  const both = verdicts([['a', { verdict: 'accept', reason: null }], ['b', { verdict: 'reject', reason: 'ü' }]]); // prettier-ignore
  const bad = (edit: ReviewEdit) => edit.verdicts?.findIndex((each) => each.reason === 'ü') ?? -1;
  const refuses: [string, Desk['refuses']][] = [
    ['named', (edit) => (bad(edit) < 0 ? undefined : new Refusal(400, 'bad_input', 'too long', `verdicts[${bad(edit)}].reason`))],
    ['not named', (edit) => (bad(edit) < 0 ? undefined : new Refusal(400, 'bad_input', 'too long'))],
  ];
  test.each(refuses)('is taken back, and the rest is saved (%s)', async (_, refuse) => {
    const desk = new Desk();
    desk.refuses = refuse;
    desk.edits.change(both);
    await expect(desk.edits.save()).rejects.toMatchObject({ code: 'unsaved' });
    const { review: shown, state } = desk.edits.snapshot();
    expect([desk.verdicts, shown.hunks.map((each) => each.verdict), state]).toEqual([['accept ada', '-'], ['accept', null], 'refused']);
    expect(desk.refused).toEqual([[expect.objectContaining({ verdicts: new Map([['b', { verdict: 'reject', reason: 'ü' }]]) }), 'too long']]);
    desk.decide('a', 'reject');
    await expect(desk.edits.save()).rejects.toMatchObject({ code: 'unsaved' });
    expect(desk.verdicts).toEqual(['reject ada', '-']);
  });
  test('stops an act until it was seen, or decided anew', async () => {
    for (const go_on of [(desk: Desk) => desk.edits.acknowledge(), (desk: Desk) => desk.decide('b', 'reject', 'short')]) {
      const desk = new Desk();
      desk.refuses = refuses[0]![1];
      desk.edits.change(both);
      await expect(desk.edits.confirmed(desk.edits.snapshot().review)).rejects.toMatchObject({ code: 'unsaved' });
      go_on(desk);
      await expect(desk.edits.confirmed(desk.edits.snapshot().review)).resolves.toBeGreaterThan(1);
    }
  });
  test('about the whole review is not tried in parts', async () => {
    const desk = new Desk();
    desk.refuses = () => new Refusal(409, 'conflict', 'the review was dismissed');
    desk.edits.change(both);
    await expect(desk.edits.save()).rejects.toMatchObject({ code: 'unsaved' });
    expect([desk.asked.length, desk.edits.snapshot().state]).toEqual([1, 'refused']);
  });
  test('does not hold what the others decided while its parts are tried', async () => {
    const desk = new Desk();
    let first = true;
    desk.refuses = () => {
      if (!first) return undefined;
      first = false;
      desk.put('bob', { verdicts: [{ hunk_id: 'b', verdict: 'accept' }] });
      return new Refusal(400, 'bad_input', 'odd');
    };
    desk.edits.change(both);
    await desk.edits.save();
    expect([desk.verdicts, desk.overtaken.length]).toEqual([['accept ada', 'accept bob'], 1]);
  });
  test('only for now is kept', async () => {
    for (const status of [0, 401, 408, 429, 500, 503]) {
      const desk = new Desk();
      desk.refuses = () => new Refusal(status, 'unavailable', 'later');
      desk.edits.change(both);
      await expect(desk.edits.save()).rejects.toMatchObject({ code: 'unsaved' });
      expect([desk.edits.snapshot().state, desk.edits.snapshot().review.hunks[0]?.verdict, desk.refused]).toEqual(['failed', 'accept', []]);
    }
  });
});

describe('when somebody else was first', () => {
  test('what they did not touch is sent again by itself', async () => {
    const desk = new Desk();
    desk.put('bob', { verdicts: [{ hunk_id: 'b', verdict: 'reject' }] });
    desk.decide('a', 'accept');
    await desk.edits.save();
    expect([desk.verdicts, desk.overtaken]).toEqual([['accept ada', 'reject bob'], []]);
  });
  test('theirs stands where both decided, and one is told', async () => {
    const desk = new Desk();
    desk.put('bob', { verdicts: [{ hunk_id: 'a', verdict: 'reject', reason: 'slow' }] });
    desk.edits.change({ verdicts: new Map([['a', { verdict: 'accept', reason: null }], ['b', { verdict: 'accept', reason: null }]]) }); // prettier-ignore
    await desk.edits.save();
    expect(desk.verdicts).toEqual(['reject bob', 'accept ada']);
    expect(desk.overtaken.map((each) => each.hunks.map((one) => `${one.hunk_id} ${one.by}`))).toEqual([['a bob']]);
  });
  test('theirs stands also when it became known while one\'s own was on its way', async () => {
    const desk = new Desk();
    let release = () => {};
    desk.gate = new Promise((done) => (release = done));
    desk.decide('a', 'accept');
    desk.edits.take(desk.put('bob', { verdicts: [{ hunk_id: 'a', verdict: 'reject' }] }));
    release();
    await desk.edits.save();
    expect([desk.verdicts[0], desk.overtaken.length]).toEqual(['reject bob', 1]);
  });
  test('the same decision is no conflict', async () => {
    const desk = new Desk();
    desk.put('bob', { verdicts: [{ hunk_id: 'a', verdict: 'accept' }] });
    desk.decide('a', 'accept');
    await desk.edits.save();
    expect([desk.verdicts[0], desk.overtaken]).toEqual(['accept bob', []]);
  });
  test('their summary is not written over', async () => {
    const desk = new Desk();
    desk.put('bob', { summary: 'His words' });
    desk.edits.change({ summary: 'My words' });
    await desk.edits.save();
    expect([desk.now.summary, desk.overtaken[0]?.summary]).toEqual(['His words', true]);
  });
  test('an older state that arrives late changes nothing', () => {
    const desk = new Desk();
    const late = desk.now;
    desk.edits.take(desk.put('bob', { verdicts: [{ hunk_id: 'b', verdict: 'reject' }] }));
    desk.edits.take({ ...late });
    expect(desk.edits.snapshot().review.revision).toBe(2);
  });
});

test('a mark of what was looked at is about one of two files whose names look the same', () => {
  const named = (path_base64: string) => ({ path: 's\ufffd', path_base64, viewed: false });
  const both = { files: [named('c/8='), named('c/4=')], hunks: [], comments: [] } as unknown as Review;
  const edit = { viewed: new Map([['/c/4=', { viewed: true }], ['n', { viewed: true }]]) }; // prettier-ignore
  expect(withEdit(both, edit, 'me').files.map((file) => file.viewed)).toEqual([false, true]);
  expect(requestOf(edit).viewed).toEqual([{ path_base64: 'c/4=', viewed: true }, { path: 'n', viewed: true }]); // prettier-ignore
});
