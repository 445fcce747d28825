// The anchor of the list of jobs: TanStack Virtual and the rows of the dashboard. No frame, groups, filters, selection, keys or news.
import '../../src/styles/base.css';
import '../../src/styles/controls.css';
import '../../src/styles/parts.css';
import '../../src/styles/jobs.css';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
import type { ListRow } from '../../src/pages/job-filter';
import { JobRow } from '../../src/pages/job-row';
import { jobPages } from './answers';

const row_height = 38;
const now = Date.now();
const ignore = () => {};
const all_seen = () => true;

type Row = Extract<ListRow, { type: 'job' }>;

function List() {
  const box = useRef<HTMLDivElement>(null);
  const [rows, setRows] = useState<Row[]>([]);
  useEffect(() => {
    void (async () => {
      for await (const jobs of jobPages()) setRows((old) => [...old, ...jobs.map((job): Row => ({ type: 'job', key: job.id, job, group: 'done', place: 0 }))]);
    })();
  }, []);
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => box.current, estimateSize: () => row_height, overscan: 8, useFlushSync: false });
  return (
    <div className="jobs">
      <div className="job-list" ref={box}>
        <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map(({ key, index, start, size }) => (
            <JobRow key={key} row={rows[index]!} top={start} height={size} current={false} picked={false} pickable={false} pick={ignore} running={0} now={now} seen={all_seen} />
          ))}
        </div>
      </div>
    </div>
  );
}

createRoot(document.getElementById('root')!).render(<List />);
