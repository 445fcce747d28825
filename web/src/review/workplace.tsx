import { lazy, Suspense, useMemo, useRef, useState } from 'react';
import type { FileDiffMetadata } from '@pierre/diffs';
import { getText } from '../api/client';
import type { ReviewHunk, Run } from '../api/types';
import { Waiting } from '../ui/bits';
import { Failure } from '../ui/boundary';
import { useLatest } from '../ui/latest';
import { Bar, type Looking } from './bar';
import { Code, type CodeHandle } from './code';
import { Comment, NewComment } from './comments';
import { useDesk } from './desk';
import type { Dialog } from './dialogs';
import { anchorOf, commentPlace, type LineAnchor } from './drafts';
import { FileHead, Unsafe } from './file-head';
import { Files } from './files';
import { Here, useHere } from './here';
import { Hints } from './hints';
import { HunkStrip } from './hunk-strip';
import type { Item, Spot } from './items';
import { changedLines, textOf } from './lines';
import { useMoves } from './moves';
import { keyOf } from './paths';
import { fileAddress, Picture } from './picture';
import { useReviewKeys, type Acts } from './review-keys';
import { useEarlier, useShown } from './shown';
import { keepViewChoice, viewChoice } from './view-choice';
import { visibleText } from './visible';

// A diff is shown and decided without them.
const Dialogs = lazy(() => import('./dialogs'));

/** Apart, because it is drawn again whenever another file is at the top. */
function Keys({ here, ...acts }: Omit<Acts, 'path'> & { here: Here }) {
  useReviewKeys({ ...acts, path: useHere(here) });
  return null;
}

export function Workplace({ text, runs }: { text: string; runs: Run[] }) {
  const desk = useDesk();
  const { job, run, may } = desk;
  const [looking, setLooking] = useState<Looking>(() => ({ choice: viewChoice(), whitespace: true, since: null, only_new: false }));
  const [dialog, setDialog] = useState<Dialog>();
  // What was typed into one that was closed is there when it opens again.
  const [had_dialog, setHadDialog] = useState(false);
  if (dialog && !had_dialog) setHadDialog(true);
  const [drawer, setDrawer] = useState(false);
  const [here] = useState(() => new Here());
  const [lines, setLines] = useState<LineAnchor>();
  const code = useRef<CodeHandle>(null);
  const look = (change: Partial<Looking>) => {
    if (change.choice) keepViewChoice(change.choice);
    setLooking((old) => ({ ...old, ...change }));
  };
  const { earlier, compared, fresh } = useEarlier(runs);
  const { files, items, hunks, of_review, decides, fold, since } = useShown(text, looking, fresh);

  const { showFile, showHunk } = useMoves({ code, items, fold, onFile: here.set });
  const pick = (path: string) => {
    setDrawer(false);
    showFile(path);
  };
  const commentOn = (at: LineAnchor | undefined) => {
    if (!at || !may.decide || !decides) return;
    fold(at.path, false);
    desk.open(commentPlace(at));
    code.current?.clearSelectedLines();
    setLines(undefined);
  };
  const commentOnHunk = (hunk: ReviewHunk | undefined) => {
    const diff = hunk && items.find(({ id }) => id === keyOf(hunk))?.fileDiff;
    const part = hunk && diff?.hunks.find((each) => each.additionStart === hunk.new_start && each.deletionStart === hunk.old_start);
    if (hunk && part) commentOn({ path: keyOf(hunk), ...changedLines(part) });
  };
  const view = (path: string, viewed: boolean) => {
    if (!of_review.has(path)) return;
    desk.change({ viewed: new Map([[path, { viewed }]]) });
    fold(path, viewed);
  };
  const paths = useMemo(() => files.map((file) => file.path), [files]);
  const by_path = useMemo(() => new Map(files.map((file) => [file.path, file])), [files]);
  const keys: Omit<Acts, 'path'> = {
    hunks,
    paths,
    showHunk,
    showFile,
    comment: (hunk) => (lines ? commentOn(lines) : commentOnHunk(hunk)),
    toggleViewed: (path) => view(path, !of_review.get(path)?.viewed),
    toggleSplit: () => look({ choice: { ...looking.choice, split: !looking.choice.split } }),
    toggleWhitespace: () => look({ whitespace: !looking.whitespace }),
  };

  const load = useLatest(async (diff: FileDiffMetadata) => {
    const file = of_review.get(diff.name);
    if (!file) throw new Error(`${diff.name} is not part of this change`);
    const side = async (which: 'base' | 'head') => ({ name: diff.name, contents: visibleText(await getText(fileAddress(job.id, run.number, which, file), '*/*')).text });
    if (diff.type === 'rename-pure') return { oldFile: null, newFile: await side('head') };
    const [oldFile, newFile] = await Promise.all([side('base'), side('head')]);
    return { oldFile, newFile };
  });

  const real = (item: Item) => files.find(({ path }) => path === item.id)?.real ?? item.fileDiff;
  const head = (item: Item) => {
    const folded = item.collapsed === true;
    const file = looking.since === null ? of_review.get(item.id) : undefined;
    const its = by_path.get(item.id);
    return its && <FileHead shown={its} file={file} folded={folded} fold={() => fold(item.id, !folded)} decides={decides} onViewed={(viewed) => view(item.id, viewed)} />;
  };
  const spot = (at: Spot, item: Item) => {
    const file = of_review.get(item.id);
    switch (at.kind) {
      case 'hunk':
        return <HunkStrip id={at.hunk} fresh={fresh.has(at.hunk)} onComment={(hunk) => (desk.look(hunk.hunk_id), commentOnHunk(hunk))} />;
      case 'comment':
        return <Comment id={at.comment} />;
      case 'editor': {
        const anchor = anchorOf(at.place);
        return <NewComment key={at.place} place={at.place} lines={anchor && textOf(real(item), anchor)} />;
      }
      case 'picture':
        return file && <Picture file={file} />;
      case 'unsafe':
        return <Unsafe patch={patch('all')} />;
      case 'remark':
        return <p className="spot-remark soft">{at.text}</p>;
    }
  };
  const top = () => (
    <Hints looking={looking} look={look} fresh={looking.since === compared ? fresh.size : undefined} nothing={files.length === 0} onSummary={() => setDialog('summary')} />
  );
  const patch = (part: string) => `/api/v1/jobs/${job.id}/runs/${run.number}/patch?part=${part}`;
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
        patch={patch}
      />
      <div className="review-body">
        <Files paths={paths} of_review={of_review} here={here} onPick={pick} decides={decides} />
        <div className="review-code">
          {looking.since !== null && since.error ? (
            <Failure error={since.error} again={() => void since.refetch()} />
          ) : looking.since !== null && !since.data ? (
            <Waiting what="Comparing the runs" />
          ) : (
            <Code
              key={`${looking.since} ${looking.whitespace}`}
              handle={code}
              items={items}
              choice={looking.choice}
              head={head}
              spot={spot}
              top={top}
              onTop={here.set}
              {...(may.decide && decides && { onLines: setLines, onComment: commentOn })}
              {...(loads && { load })}
            />
          )}
        </div>
      </div>
      <Keys here={here} {...keys} />
      {had_dialog && (
        <Suspense fallback={null}>
          <Dialogs open={dialog} onClose={() => setDialog(undefined)} />
        </Suspense>
      )}
    </div>
  );
}
