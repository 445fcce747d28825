// Beside the long lists: TanStack Virtual and one line of plain text for each row.
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
import type { Job, TraceEvent } from '../../src/api/types';
import { jobPages, tracePages } from './answers';

const wanted = new URLSearchParams(location.search).get('of') === 'jobs' ? 'jobs' : 'trace';
const row_height = wanted === 'jobs' ? 38 : 28;

const jobText = (job: Job) => `${job.state}  ${job.title}  ${job.repository.split('/').at(-1)}  ${job.last_run?.reason ?? ''}  $${((job.last_run?.cost_nano_usd ?? 0) / 1e9).toFixed(4)}`;
const eventText = (event: TraceEvent) => `${event.type}  ${JSON.stringify(event.data['arguments'] ?? event.data['text'] ?? event.data['model'] ?? event.turn)}`;

async function* jobTexts(): AsyncGenerator<string[]> {
  for await (const jobs of jobPages()) yield jobs.map(jobText);
}

async function* eventTexts(): AsyncGenerator<string[]> {
  // A result belongs to the row of its call.
  for await (const events of tracePages()) yield events.filter((event) => event.type !== 'tool_result').map(eventText);
}

function List() {
  const box = useRef<HTMLDivElement>(null);
  const [rows, setRows] = useState<string[]>([]);
  useEffect(() => {
    void (async () => {
      for await (const more of wanted === 'jobs' ? jobTexts() : eventTexts()) setRows((old) => [...old, ...more]);
    })();
  }, []);
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => box.current, estimateSize: () => row_height, overscan: 12, useFlushSync: false });
  return (
    <div className="code" ref={box}>
      <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {virtual.getVirtualItems().map((item) => (
          <div key={item.key} className="row" style={{ height: item.size, transform: `translateY(${item.start}px)` }}>
            {rows[item.index]}
          </div>
        ))}
      </div>
    </div>
  );
}

createRoot(document.getElementById('root')!).render(<List />);
