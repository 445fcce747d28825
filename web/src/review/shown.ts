import { useMemo, useRef, useState } from 'react';
import { useSince } from '../api/queries';
import type { ReviewHunk, Run } from '../api/types';
import type { Looking } from './bar';
import { commentsOf, useDesk } from './desk';
import { anchorOf } from './drafts';
import { ItemList, spotsOf, type Item } from './items';
import { keyOf } from './paths';
import { shownFiles, type ShownFile } from './shown-file';

/** Which hunks the run that this one goes on from did not have, and which runs this one can be compared with. */
export function useEarlier(runs: Run[]) {
  const { job, run } = useDesk();
  const earlier = runs.filter((each) => each.number < run.number && each.head_commit !== null).map((each) => each.number);
  const compared = run.from_run !== null && earlier.includes(run.from_run) ? run.from_run : null;
  const changes = useSince(job.id, run.number, compared);
  const fresh = useMemo(() => new Set(changes.data?.changed_hunks ?? []), [changes.data]);
  return { earlier, compared, fresh };
}

/** The files to show: of the whole change, with or without what is white space only, or of what came since an earlier run. */
function useFiles(text: string, looking: Looking) {
  const { job, run, review, by_file } = useDesk();
  const since = useSince(job.id, run.number, looking.since);
  // What a review's files and hunks are never changes; only what was said about them does.
  const first = useRef({ files: review.files, hunksOf: (key: string) => by_file.get(key) ?? [] }).current;
  const whole = useMemo(() => shownFiles(text, run.id, { review: first, whitespace: looking.whitespace }), [text, run.id, first, looking.whitespace]);
  const interdiff = since.data?.text;
  const between = useMemo(() => (interdiff ? shownFiles(interdiff, `${run.id}-${looking.since}`, { whitespace: looking.whitespace }) : []), [interdiff, run.id, looking.since, looking.whitespace]);
  return { all: looking.since === null ? whole : between, since };
}

/** Which files are folded: what one did by hand goes before what the file is. */
function useFolds() {
  const { review } = useDesk();
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  const viewed = new Map(review.files.map((file) => [keyOf(file), file.viewed]));
  const is_folded = (file: ShownFile) => folds.get(file.path) ?? (viewed.get(file.path) === true || file.folded_because !== undefined);
  const fold = (path: string, folded: boolean) => setFolds((old) => new Map(old).set(path, folded));
  return { is_folded, fold };
}

/** Everything that the diff shows now, and the hunks that can be stepped through in it. */
export function useShown(text: string, looking: Looking, fresh: ReadonlySet<string>) {
  const { review, by_file, editors } = useDesk();
  const { all, since } = useFiles(text, looking);
  const { is_folded, fold } = useFolds();
  const list = useRef(new ItemList());
  const kept = useRef<Item[]>([]);
  const whole = looking.since === null;
  const decides = whole && looking.whitespace;
  const wanted = (hunk: ReviewHunk) => !looking.only_new || fresh.has(hunk.hunk_id);
  const hunks_of = (path: string) => by_file.get(path) ?? [];
  const files = all.filter((file) => !whole || !looking.only_new || hunks_of(file.path).some(wanted));
  const of_review = new Map(review.files.map((file) => [keyOf(file), file]));
  const items = list.current.next(
    files.map((file) => ({
      shown: file,
      folded: is_folded(file),
      spots: spotsOf(file, {
        file: whole ? of_review.get(file.path) : undefined,
        hunks: decides && !file.unsafe ? hunks_of(file.path) : [],
        comments: decides ? commentsOf(review, file.path) : [],
        editors: decides ? editors.filter((place) => anchorOf(place)?.path === file.path) : [],
      }),
    })),
  );
  // The same list while nothing in it changed: the view compares.
  if (items.length !== kept.current.length || items.some((item, i) => item !== kept.current[i])) kept.current = items;
  const hunks = decides ? files.flatMap((file) => (file.unsafe ? [] : hunks_of(file.path).filter(wanted))) : [];
  return { files, items: kept.current, hunks, of_review, decides, fold, since };
}
