// The anchor of the trace: TanStack Virtual and the rows of the dashboard. No frame, filters, search, selection, keys or news.
import '../../src/styles/base.css';
import '../../src/styles/controls.css';
import '../../src/styles/parts.css';
import '../../src/styles/trace.css';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, useState } from 'react';
import { createRoot } from 'react-dom/client';
import { TraceRow } from '../../src/trace/row';
import { no_filter, rowsOf, type Row } from '../../src/trace/rows';
import { TreeBuilder } from '../../src/trace/tree';
import { tracePages } from './answers';

const row_height = 28;
const now = Date.now();
const ignore = () => {};

function List() {
  const box = useRef<HTMLDivElement>(null);
  const [builder] = useState(() => new TreeBuilder());
  const [rows, setRows] = useState<Row[]>([]);
  useEffect(() => {
    void (async () => {
      for await (const events of tracePages()) {
        builder.add(events);
        setRows(rowsOf(builder.tree, no_filter, new Set(), new Set()));
      }
    })();
  }, [builder]);
  const virtual = useVirtualizer({ count: rows.length, getScrollElement: () => box.current, estimateSize: () => row_height, overscan: 12, useFlushSync: false });
  return (
    <div className="trace-rows" style={{ height: '100vh' }} ref={box}>
      <div style={{ height: virtual.getTotalSize(), position: 'relative' }}>
        {virtual.getVirtualItems().map(({ key, index, start, size }) => (
          <div key={key} className="virtual" style={{ height: size, transform: `translateY(${start}px)` }}>
            <TraceRow row={rows[index]!} tree={builder.tree} now={now} live={false} press={ignore} selected={false} />
          </div>
        ))}
      </div>
    </div>
  );
}

createRoot(document.getElementById('root')!).render(<List />);
