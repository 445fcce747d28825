// What the parts of a review share: its state with what is not saved yet, what one may do, and what is being looked at.
import { useQueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useMemo, useState, useSyncExternalStore } from 'react';
import { get, patch } from '../api/client';
import { useReview, useSession } from '../api/queries';
import type { HunkVerdict, Job, Review, ReviewHunk, Run } from '../api/types';
import { useShelf } from '../ui/shelf';
import { useMay } from '../ui/shell';
import { retract, toast, toastRefusal } from '../ui/toasts';
import { count } from '../words/money';
import { shownTitle } from '../words/repository';
import { anchorOf, Drafts, draftsName, type Place } from './drafts';
import { empty, type Edit, type Overtaken } from './edit';
import { Edits, type SaveState } from './edits';
import { hunksByFile } from './order';
import { keyOf, nameOf } from './paths';
import { refusedWords, textsOf } from './refused';
import { verdictWords } from './words';

export type Desk = {
  job: Job;
  run: Run;
  /** `/api/v1/jobs/.../review` */
  path: string;
  me: string;
  review: Review;
  state: SaveState;
  by_file: Map<string, ReviewHunk[]>;
  may: { decide: boolean; act: boolean };
  drafts: Drafts;
  /** Comments that are being written. */
  editors: Place[];
  open: (place: Place) => void;
  close: (place: Place) => void;
  current: string | undefined;
  look: (hunk: string | undefined) => void;
  /** The hunk whose reason is being written. */
  reasoning: string | undefined;
  reason: (hunk: string | undefined) => void;
  change: (edit: Edit) => void;
  /** Before an act on what is shown: resolves with its revision when exactly that is saved, throws Refusal else. */
  confirmed: () => Promise<number>;
  /** Something is decided that the server does not have: nobody may act on the review. */
  blocked: boolean;
  /** Tries once more to save what failed. */
  saveAgain: () => void;
  /** In words what the server refused and nobody has looked at yet. */
  refused: string | undefined;
  acknowledge: () => void;
  decide: (hunks: ReviewHunk[], verdict: HunkVerdict | null, reason?: string) => void;
  /** After something that changed the review and did not answer with it. */
  again: () => Promise<void>;
  take: (review: Review) => void;
};

const Context = createContext<Desk | undefined>(undefined);
export const DeskProvider = Context.Provider;

export function useDesk(): Desk {
  const desk = useContext(Context);
  if (!desk) throw new Error('useDesk outside of a review');
  return desk;
}

function tellOvertaken({ hunks, summary }: Overtaken): void {
  const said = [...new Set(hunks.map((hunk) => `${hunk.by ?? 'Somebody'} ${verdictWords(hunk)} ${nameOf(keyOf(hunk))}`))];
  if (hunks.length) toast(`${count(hunks.length, 'change')} that you decided had been decided meanwhile; that stands`, 'warn', said.slice(0, 3).join('; '));
  if (summary) toast('Somebody changed the summary meanwhile; theirs stands, yours is still in the field', 'warn');
}

const none: Place[] = [];

/** Of one review that has been read. */
export function useDeskOf(job: Job, run: Run, first: Review): Desk {
  const client = useQueryClient();
  const me = useSession().data?.principal ?? '';
  const path = `/api/v1/jobs/${job.id}/runs/${run.number}/review`;
  const key = useMemo(() => ['review', job.id, run.number], [job.id, run.number]);
  const drafts = useMemo(() => new Drafts(localStorage, draftsName(me, job.id, run.number)), [me, job.id, run.number]);
  const shelf = useShelf();
  const name = `review of ${path} by ${me}`;
  const edits = useMemo(
    () =>
      shelf.left<Edits>(name) ??
      new Edits(first, me, {
        send: (edit, revision) => patch<Review>(path, edit, { 'If-Match': `"${revision}"` }),
        read: () => get<Review>(path),
        show: (review) => {
          client.setQueryData(key, review);
          retract(name);
        },
        overtaken: tellOvertaken,
        failed: (error) => toastRefusal(`Your decisions on ${shownTitle(job.title)} are not saved`, error, name),
        refused: (part, error) => {
          for (const [place, text] of textsOf(part)) if (!drafts.text(place)) drafts.keep(place, text);
          const kept = textsOf(part).length ? ' What you wrote is kept in its field.' : '';
          toast(`The server refused ${refusedWords(part, first)}: ${error.message}`, 'bad', `${error.hint ?? ''}${kept}`.trim());
        },
      }),
    // Not of `first` and the title: later states come through `take`.
    [shelf, name, path, me, key, client, drafts],
  );
  useEffect(() => {
    return shelf.put(name, { owner: me, title: `${shownTitle(job.title)}, run ${run.number}`, href: `/jobs/${job.id}/runs/${run.number}/changes` }, edits);
  }, [shelf, name, me, job.id, job.title, run.number, edits]);
  const { review, state, taken_back } = useSyncExternalStore(edits.subscribe, edits.snapshot);
  const latest = useReview(job.id, run.number, true).data;
  useEffect(() => {
    if (latest) edits.take(latest);
  }, [latest, edits]);

  const [editors, setEditors] = useState(() => drafts.places().filter((place) => anchorOf(place) !== undefined));
  const [current, look] = useState<string>();
  const [reasoning, reason] = useState<string>();
  const by_file = useMemo(() => hunksByFile(review), [review]);
  const may = { decide: useMay('reviewer'), act: useMay('operator') };

  return {
    job,
    run,
    path,
    me,
    review,
    state,
    by_file,
    may,
    drafts,
    editors: may.decide ? editors : none,
    open: (place) => setEditors((old) => (old.includes(place) ? old : [...old, place])),
    close: (place) => setEditors((old) => old.filter((each) => each !== place)),
    current,
    look,
    reasoning,
    reason,
    change: (edit) => edits.change(edit),
    confirmed: () => edits.confirmed(review),
    blocked: state === 'failed' || state === 'refused',
    saveAgain: () => edits.again(),
    refused: state === 'refused' && !empty(taken_back) ? refusedWords(taken_back, review) : undefined,
    acknowledge: () => edits.acknowledge(),
    decide: (hunks, verdict, why) => edits.change({ verdicts: new Map(hunks.map((hunk) => [hunk.hunk_id, { verdict, reason: verdict ? (why ?? (hunk.verdict === verdict ? hunk.reason : null)) : null }])) }),
    again: () => client.invalidateQueries({ queryKey: key }),
    take: (changed) => client.setQueryData(key, changed),
  };
}
