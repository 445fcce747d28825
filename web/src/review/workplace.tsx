import { useMemo, useRef, useState } from 'react';
import type { FileDiffMetadata } from '@pierre/diffs';
import { getText, post } from '../api/client';
import { useSince } from '../api/queries';
import type { Review, ReviewHunk, Run } from '../api/types';
import { Waiting } from '../ui/bits';
import { Failure } from '../ui/boundary';
import { Confirm } from '../ui/dialog';
import { useKeys, type Key } from '../ui/keys';
import { useLatest } from '../ui/latest';
import { toast, toastRefusal } from '../ui/toasts';
import { Apply } from './apply';
import { Bar, type Looking } from './bar';
import { Code, type CodeHandle } from './code';
import { Comment, NewComment } from './comments';
import { commentsOf, useDesk } from './desk';
import { anchorOf, commentPlace, type LineAnchor } from './drafts';
import { Fetch } from './fetch';
import { FileHead } from './file-head';
import { Files } from './files';
import { HunkStrip } from './hunk-strip';
import { ItemList, spotsOf, type Item, type Spot } from './items';
import { changedLines, textOf } from './lines';
import { nextUndecided, stepped, steppedFile } from './order';
import { fileAddress, Picture } from './picture';
import { SendBack } from './send-back';
import { shownFiles, type ShownFile } from './shown-file';
import { SummaryDialog, SummaryText } from './summary';
import { keepViewChoice, viewChoice } from './view-choice';

/** Of a hunk that does not fit into a window the beginning is shown. */
const long_hunk_lines = 24;

type Dialog = 'apply' | 'send-back' | 'dismiss' | 'fetch' | 'summary' | undefined;

/** What is shown: the whole change, with or without what is white space only, or what came since an earlier run. */
function useShown(text: string, looking: Looking) {
  const { job, run, review } = useDesk();
  const since = useSince(job.id, run.number, looking.since);
  const files_of = useRef(review.files);
  files_of.current = review.files;
  const whole = useMemo(() => shownFiles(text, run.id, { files: files_of.current, whitespace: looking.whitespace }), [text, run.id, looking.whitespace]);
  const interdiff = since.data?.text;
  const between = useMemo(() => (interdiff ? shownFiles(interdiff, `${run.id}-${looking.since}`, { whitespace: looking.whitespace }) : []), [interdiff, run.id, looking.since, looking.whitespace]);
  return { files: looking.since === null ? whole : between, since };
}

/** Which files are folded: what one did by hand goes before what the file is. */
function useFolds() {
  const { review } = useDesk();
  const [folds, setFolds] = useState<ReadonlyMap<string, boolean>>(new Map());
  const viewed = new Map(review.files.map((file) => [file.path, file.viewed]));
  const is_folded = (file: ShownFile) => folds.get(file.path) ?? (viewed.get(file.path) === true || file.folded_because !== undefined);
  const fold = (path: string, folded: boolean) => setFolds((old) => new Map(old).set(path, folded));
  return { is_folded, fold };
}

export function Workplace({ text, runs }: { text: string; runs: Run[] }) {
  const desk = useDesk();
  const { job, run, review, may, by_file, current, editors } = desk;
  const [looking, setLooking] = useState<Looking>(() => ({ choice: viewChoice(), whitespace: true, since: null, only_new: false }));
  const [dialog, setDialog] = useState<Dialog>();
  const [drawer, setDrawer] = useState(false);
  const [file_here, setFileHere] = useState<string>();
  const [lines, setLines] = useState<LineAnchor>();
  const code = useRef<CodeHandle>(null);
  const list = useRef(new ItemList());
  const look = (change: Partial<Looking>) => {
    if (change.choice) keepViewChoice(change.choice);
    setLooking((old) => ({ ...old, ...change }));
  };

  const earlier = runs.filter((each) => each.number < run.number && each.head_commit !== null).map((each) => each.number);
  const compared = run.from_run !== null && earlier.includes(run.from_run) ? run.from_run : null;
  // Which hunks are new is asked of the run that this one goes on from.
  const changes = useSince(job.id, run.number, compared);
  const fresh = useMemo(() => new Set(changes.data?.changed_hunks ?? []), [changes.data]);
  const decides = looking.since === null && looking.whitespace;

  const { files, since } = useShown(text, looking);
  const { is_folded, fold } = useFolds();
  const wanted = (hunk: ReviewHunk) => !looking.only_new || fresh.has(hunk.hunk_id);
  const shown = files.filter((file) => looking.since !== null || !looking.only_new || (by_file.get(file.path) ?? []).some(wanted));
  const files_of_review = new Map(review.files.map((file) => [file.path, file]));
  const items = list.current.next(
    shown.map((file) => ({
      shown: file,
      folded: is_folded(file),
      spots: spotsOf(file, {
        file: looking.since === null ? files_of_review.get(file.path) : undefined,
        hunks: decides ? (by_file.get(file.path) ?? []) : [],
        comments: decides ? commentsOf(review, file.path) : [],
        editors: decides ? editors.filter((place) => anchorOf(place)?.path === file.path) : [],
      }),
    })),
  );
  const hunks = decides ? shown.flatMap((file) => (by_file.get(file.path) ?? []).filter(wanted)) : [];
  const kept_items = useRef(items);
  if (items.length !== kept_items.current.length || items.some((item, i) => item !== kept_items.current[i])) kept_items.current = items;

  const showFile = (path: string | undefined) => {
    if (path === undefined) return;
    setFileHere(path);
    setDrawer(false);
    code.current?.scrollTo({ type: 'item', id: path, align: 'start' });
  };
  const showHunk = (hunk: ReviewHunk | undefined) => {
    const item = hunk && kept_items.current.find(({ id }) => id === hunk.path);
    if (!hunk || !item) return;
    desk.look(hunk.hunk_id);
    setFileHere(hunk.path);
    if (item.collapsed) fold(hunk.path, false);
    const place = item.annotations?.find(({ metadata: { spot } }) => spot.kind === 'hunk' && spot.hunk === hunk.hunk_id);
    const [start, end] = [hunk.new_lines ? hunk.new_start : hunk.old_start, place?.lineNumber ?? 0];
    requestAnimationFrame(() => {
      if (!place || place.lineNumber === 0) code.current?.scrollTo({ type: 'item', id: hunk.path, align: 'start' });
      else code.current?.scrollTo({ type: 'range', id: hunk.path, range: { start: Math.min(start, end), end, side: place.side, endSide: place.side }, align: end - start > long_hunk_lines ? 'start' : 'center' });
    });
  };
  const commentOn = (at: LineAnchor | undefined) => {
    if (!at || !may.decide || !decides) return;
    fold(at.path, false);
    desk.open(commentPlace(at));
    code.current?.clearSelectedLines();
    setLines(undefined);
  };
  const commentOnHunk = (hunk: ReviewHunk | undefined) => {
    const diff = hunk && kept_items.current.find(({ id }) => id === hunk.path)?.fileDiff;
    const part = hunk && diff?.hunks.find((each) => each.additionStart === hunk.new_start && each.deletionStart === hunk.old_start);
    if (hunk && part) commentOn({ path: hunk.path, ...changedLines(part) });
  };
  const view = (path: string, viewed: boolean) => {
    const file = files_of_review.get(path);
    if (!file) return;
    desk.change({ viewed: new Map([[path, { viewed, ...(file.path_base64 && { path_base64: file.path_base64 }) }]]) });
    fold(path, viewed);
  };
  const here = hunks.find((hunk) => hunk.hunk_id === current);
  const decideHere = (verdict: 'accept' | 'reject') => {
    const hunk = here ?? hunks[0];
    if (!hunk) return;
    if (!here) return showHunk(hunk);
    const next = hunk.verdict === verdict ? null : verdict;
    desk.decide([hunk], next);
    if (next === 'reject') desk.reason(hunk.hunk_id);
    else if (next === 'accept') showHunk(nextUndecided(hunks, hunk.hunk_id));
  };
  const dismiss = async () => {
    try {
      const revision = await desk.save();
      desk.take(await post<Review>(`${desk.path}/dismiss`, { revision }));
      toast('The run was put aside');
    } catch (error) {
      toastRefusal('It was not dismissed', error);
      await desk.again();
    }
  };

  const paths = shown.map((file) => file.path);
  const nextOpen = () => {
    const next = nextUndecided(hunks, current);
    if (next) showHunk(next);
    else toast(hunks.length ? 'Everything is decided' : 'Verdicts are given on the whole change, with its white space', 'quiet');
  };
  const deciding: Key[] = !may.decide
    ? []
    : [
        { keys: 'a', word: 'Accept, and on to the next undecided', run: () => decideHere('accept') },
        { keys: 'r', word: 'Reject, and say why', run: () => decideHere('reject') },
        { keys: 'c', word: 'Comment on the selected lines, or on the hunk', run: () => (lines ? commentOn(lines) : commentOnHunk(here)) },
        { keys: 'v', word: 'Viewed, or not', run: () => file_here !== undefined && view(file_here, !files_of_review.get(file_here)?.viewed) },
      ];
  useKeys('Review', [
    { keys: 'j', word: 'Next hunk', run: () => showHunk(stepped(hunks, current, 1)) },
    { keys: 'k', word: 'Hunk before', run: () => showHunk(stepped(hunks, current, -1)) },
    { keys: 'n', word: 'Next undecided hunk', run: nextOpen },
    ...deciding,
    { keys: ']', word: 'Next file', run: () => showFile(steppedFile(paths, file_here, 1)) },
    { keys: '[', word: 'File before', run: () => showFile(steppedFile(paths, file_here, -1)) },
    { keys: 's', word: 'Side by side, or one column', run: () => look({ choice: { ...looking.choice, split: !looking.choice.split } }) },
    { keys: 'w', word: 'With white space, or without', run: () => look({ whitespace: !looking.whitespace }) },
  ]);

  const load = useLatest(async (diff: FileDiffMetadata) => {
    const file = files_of_review.get(diff.name);
    if (!file) throw new Error(`${diff.name} is not part of this change`);
    const side = async (which: 'base' | 'head') => ({ name: diff.name, contents: await getText(fileAddress(job.id, run.number, which, file), '*/*') });
    if (diff.type === 'rename-pure') return { oldFile: null, newFile: await side('head') };
    const [oldFile, newFile] = await Promise.all([side('base'), side('head')]);
    return { oldFile, newFile };
  });

  const head = (item: Item) => {
    const folded = item.collapsed === true;
    const file = looking.since === null ? files_of_review.get(item.id) : undefined;
    const its = shown.find(({ path }) => path === item.id);
    return its && <FileHead shown={its} file={file} folded={folded} fold={() => fold(item.id, !folded)} decides={decides} onViewed={(viewed) => view(item.id, viewed)} />;
  };
  const spot = (at: Spot, item: Item) => {
    const file = files_of_review.get(item.id);
    switch (at.kind) {
      case 'hunk':
        return <HunkStrip id={at.hunk} fresh={fresh.has(at.hunk)} onComment={(hunk) => (desk.look(hunk.hunk_id), commentOnHunk(hunk))} />;
      case 'comment':
        return <Comment id={at.comment} />;
      case 'editor': {
        const anchor = anchorOf(at.place);
        return <NewComment key={at.place} place={at.place} file={file} lines={anchor && textOf(item.fileDiff, anchor)} />;
      }
      case 'picture':
        return file && <Picture file={file} />;
      case 'remark':
        return <p className="spot-remark soft">{at.text}</p>;
    }
  };
  const top = () => (
    <>
      <SummaryText onChange={() => setDialog('summary')} />
      {looking.since !== null && since.data && (
        <p className="review-hint">
          What run {run.number} did on top of run {looking.since}, for reading: verdicts are given on the whole change.
          {looking.since === compared && fresh.size > 0 && (
            <button className="small" onClick={() => look({ since: null, only_new: true })}>
              Decide the {fresh.size === 1 ? 'one hunk that is' : `${fresh.size} hunks that are`} new
            </button>
          )}
        </p>
      )}
      {looking.since === null && !looking.whitespace && (
        <p className="review-hint">
          Without differences of white space, for reading: verdicts are given on the real lines.
          <button className="small" onClick={() => look({ whitespace: true })}>
            Show white space
          </button>
        </p>
      )}
      {looking.since === null && looking.only_new && (
        <p className="review-hint">
          Only files with hunks that run {run.from_run} did not have.
          <button className="small" onClick={() => look({ only_new: false })}>
            Show all
          </button>
        </p>
      )}
      {shown.length === 0 && <p className="review-hint">{looking.since !== null ? 'There is no difference between the two runs.' : 'Nothing but white space has changed.'}</p>}
    </>
  );
  const loads = looking.since === null && looking.whitespace;
  return (
    <div className={`review${drawer ? ' drawer-open' : ''}`}>
      <Bar
        looking={looking}
        look={look}
        earlier={earlier}
        has_new={fresh.size > 0}
        onFiles={() => setDrawer(!drawer)}
        onApply={() => setDialog('apply')}
        onSendBack={() => setDialog('send-back')}
        onDismiss={() => setDialog('dismiss')}
        onFetch={() => setDialog('fetch')}
        onSummary={() => setDialog('summary')}
        patch={(part) => `/api/v1/jobs/${job.id}/runs/${run.number}/patch?part=${part}`}
      />
      <div className="review-body">
        <Files paths={paths} current={file_here ?? paths[0]} onPick={showFile} decides={decides} />
        <div className="review-code">
          {looking.since !== null && since.error ? (
            <Failure error={since.error} again={() => void since.refetch()} />
          ) : looking.since !== null && !since.data ? (
            <Waiting what="Comparing the runs" />
          ) : (
            <Code
              key={`${looking.since} ${looking.whitespace}`}
              handle={code}
              items={kept_items.current}
              choice={looking.choice}
              head={head}
              spot={spot}
              top={top}
              onTop={setFileHere}
              {...(may.decide && decides && { onLines: setLines, onComment: commentOn })}
              {...(loads && { load })}
            />
          )}
        </div>
      </div>
      <Apply open={dialog === 'apply'} onClose={() => setDialog(undefined)} />
      <SendBack open={dialog === 'send-back'} onClose={() => setDialog(undefined)} />
      <Fetch open={dialog === 'fetch'} onClose={() => setDialog(undefined)} />
      <SummaryDialog open={dialog === 'summary'} onClose={() => setDialog(undefined)} />
      <Confirm
        open={dialog === 'dismiss'}
        onClose={() => setDialog(undefined)}
        onYes={() => void dismiss()}
        title="Put this run aside?"
        text="Nothing of it is applied, and it waits for nobody any more. Verdicts and comments are kept."
        yes="Dismiss"
      />
    </div>
  );
}
