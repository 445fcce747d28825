// The plain diff. The review takes this place: its view of hunks, verdicts and comments comes with the review's API.
import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState } from 'react';
import { useDiff } from '../api/queries';
import type { Job, Run } from '../api/types';
import { Stat, Waiting } from '../ui/bits';
import { Failure } from '../ui/boundary';
import { useKeys } from '../ui/keys';
import { bytes, count } from '../words/money';
import { isLive } from '../words/states';
import { diffRows, type DiffRow } from './diff';

const line_height = 20;
const file_height = 36;
/** Longer lines are shown up to here: a line of a megabyte would stop the browser. */
const line_characters = 2000;

function Row({ row }: { row: DiffRow }) {
  if (row.type === 'file')
    return (
      <div className="diff-file">
        <span className="mono">{row.path}</span>
        {row.note && <span className="soft">{row.note}</span>}
        <span className="gap" />
        <span className="stat">
          <b className="add">+{row.insertions}</b> <b className="del">−{row.deletions}</b>
        </span>
      </div>
    );
  if (row.type === 'hunk') return <div className="diff-hunk">{row.text}</div>;
  const kind = { '+': 'added', '-': 'removed', ' ': '', '\\': 'remark' }[row.sign];
  return (
    <div className={`diff-line ${kind}`}>
      <span className="number">{row.old}</span>
      <span className="number">{row.new}</span>
      <span className="sign">{row.sign === '\\' ? '' : row.sign}</span>
      <span className="code">{row.text.length > line_characters ? `${row.text.slice(0, line_characters)} … ${count(row.text.length, 'character')}` : row.text || ' '}</span>
    </div>
  );
}

function Diff({ text, job, run }: { text: string; job: Job; run: Run }) {
  const rows = useMemo(() => diffRows(text), [text]);
  const files = useMemo(() => rows.flatMap((row, at) => (row.type === 'file' ? [{ row, at }] : [])), [rows]);
  const box = useRef<HTMLDivElement>(null);
  const [, setFile] = useState(0);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: (i) => (rows[i]?.type === 'file' ? file_height : line_height),
    overscan: 30,
  });
  // The width of the longest line, so that scrolling sideways does not depend on what is drawn at the moment.
  const columns = useMemo(() => rows.reduce((most, row) => (row.type === 'line' ? Math.max(most, Math.min(row.text.length, line_characters + 24)) : most), 0), [rows]);
  const show = (at: number) => virtual.scrollToIndex(at, { align: 'start' });
  const step = (by: number) =>
    setFile((old) => {
      const next = Math.max(0, Math.min(files.length - 1, old + by));
      if (files[next]) show(files[next].at);
      return next;
    });
  useKeys('Changes', [
    { keys: ']', word: 'Next file', run: () => step(1) },
    { keys: '[', word: 'File before', run: () => step(-1) },
  ]);
  return (
    <div className="changes">
      <nav className="file-list" aria-label="Files">
        {files.map(({ row, at }) => (
          <button key={at} onClick={() => show(at)} title={row.path}>
            <span className="mono file-name">
              <bdi>{row.path}</bdi>
            </span>
            <Stat stat={{ files: 1, insertions: row.insertions, deletions: row.deletions }} />
          </button>
        ))}
        <a className="soft" href={`/api/v1/jobs/${job.id}/runs/${run.number}/blobs/${run.diff_blob}`} download={`${job.id.slice(0, 10)}-${run.number}.patch`}>
          Download the patch
        </a>
      </nav>
      <div className="diff" ref={box} tabIndex={0} role="region" aria-label="Diff">
        <div style={{ height: virtual.getTotalSize(), position: 'relative', minWidth: `max(100%, calc(${columns}ch + 9rem))` }}>
          {virtual.getVirtualItems().map((item) => (
            <div key={item.key} className="virtual" style={{ height: item.size, transform: `translateY(${item.start}px)` }}>
              <Row row={rows[item.index]!} />
            </div>
          ))}
        </div>
      </div>
    </div>
  );
}

export default function Changes({ job, run }: { job: Job; run: Run }) {
  const diff = useDiff(job.id, run.number, run.diff_blob);
  if (run.diff_blob === null)
    return (
      <div className="empty">
        <p>{isLive(run.state) ? 'The changes show up here when the agent is done.' : 'This run left no changes.'}</p>
      </div>
    );
  if (diff.error) return <Failure error={diff.error} again={() => void diff.refetch()} />;
  if (!diff.data) return <Waiting what="Reading the diff" />;
  if (diff.data.text === null)
    return (
      <div className="empty">
        <p>The diff has {bytes(diff.data.bytes)}: more than a page shows.</p>
        <a className="button" href={`/api/v1/jobs/${job.id}/runs/${run.number}/blobs/${run.diff_blob}`} download={`${job.id.slice(0, 10)}-${run.number}.patch`}>
          Download it
        </a>
      </div>
    );
  return <Diff text={diff.data.text} job={job} run={run} />;
}
