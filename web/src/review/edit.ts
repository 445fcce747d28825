// A change of a review: what it holds, what it asks of the server, and the review with it.
import type { HunkVerdict, Review, ReviewEdit, ReviewHunk } from '../api/types';
import { keyOf, namedBy } from './paths';

export type Decision = { verdict: HunkVerdict | null; reason: string | null };

export type Edit = {
  verdicts?: Map<string, Decision>;
  suggestions?: Map<string, boolean>;
  /** By key (paths.ts). */
  viewed?: Map<string, { viewed: boolean }>;
  summary?: string;
  send_drafts?: true;
};

/** What somebody else decided first, about something that one decided too. Theirs stands. */
export type Overtaken = { hunks: ReviewHunk[]; summary: boolean };

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
