import { useCallback, useMemo, useRef, useState } from 'react';
import { useSince } from '../api/queries';
import type { ReviewHunk, Run } from '../api/types';
import type { Looking } from './bar';
import { useDesk } from './desk';
import { anchorOf } from './drafts';
import { ItemList, SpotMemory, type Item } from './items';
import { keyOf } from './paths';
import { shownFiles } from './shown-file';

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
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  const fold = useCallback((path: string, folded: boolean) => setFolds((old) => new Map(old).set(path, folded)), []);
  return { folds, fold };
}

const none: never[] = [];

function byPath<T>(list: T[], path: (each: T) => string | undefined): (path: string) => T[] {
  const found = new Map<string, T[]>();
  for (const each of list) {
    const name = path(each);
    if (name === undefined) continue;
    const others = found.get(name);
    if (others) others.push(each);
    else found.set(name, [each]);
  }
  return (name) => found.get(name) ?? none;
}

/** Everything that the diff shows now, and the hunks that can be stepped through in it. */
export function useShown(text: string, looking: Looking, fresh: ReadonlySet<string>) {
  const { review, by_file, editors } = useDesk();
  const { all, since } = useFiles(text, looking);
  const { folds, fold } = useFolds();
  const list = useRef(new ItemList());
  const memory = useRef(new SpotMemory());
  const kept = useRef<Item[]>([]);
  const { only_new } = looking;
  const whole = looking.since === null;
  const decides = whole && looking.whitespace;
  const of_review = useMemo(() => new Map(review.files.map((file) => [keyOf(file), file])), [review.files]);
  const commented = useMemo(() => byPath(review.comments, keyOf), [review.comments]);
  const edited = useMemo(() => byPath(editors, (place) => anchorOf(place)?.path), [editors]);
  const { files, hunks } = useMemo(() => {
    const wanted = (hunk: ReviewHunk) => !only_new || fresh.has(hunk.hunk_id);
    const hunks_of = (path: string) => by_file.get(path) ?? none;
    const files = whole && only_new ? all.filter((file) => hunks_of(file.path).some(wanted)) : all;
    return { files, hunks: decides ? files.flatMap((file) => (file.unsafe ? none : hunks_of(file.path).filter(wanted))) : [] };
  }, [all, by_file, fresh, only_new, whole, decides]);
  const items = useMemo(
    () =>
      list.current.next(
        files.map((shown) => {
          const { path } = shown;
          const file = of_review.get(path);
          const spots = memory.current.of(shown, {
            file: whole ? file : undefined,
            hunks: decides && !shown.unsafe ? (by_file.get(path) ?? none) : none,
            comments: decides ? commented(path) : none,
            editors: decides ? edited(path) : none,
          });
          return { shown, spots, folded: folds.get(path) ?? (file?.viewed === true || shown.folded_because !== undefined) };
        }),
      ),
    [files, of_review, by_file, commented, edited, folds, whole, decides],
  );
  // The same list while nothing in it changed: the view compares.
  if (items.length !== kept.current.length || items.some((item, i) => item !== kept.current[i])) kept.current = items;
  return { files, items: kept.current, hunks, of_review, decides, fold, since };
}
