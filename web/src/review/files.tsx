import { useVirtualizer } from '@tanstack/react-virtual';
import { useDeferredValue, useEffect, useMemo, useRef, useState } from 'react';
import type { ReviewFile } from '../api/types';
import { Icon } from '../ui/icons';
import { useMedia } from '../ui/media';
import { SearchField } from '../ui/search-field';
import { useDesk } from './desk';
import { Decided } from './file-head';
import { treeRows, type TreeRow } from './file-tree';
import { useHere, type Here } from './here';
import { nameOf } from './paths';
import { kindWords } from './words';

const row_height = 27;
/** Wide enough for a finger, where the tree is a drawer. */
const drawer_row_height = 34;
const space_below = 12;

type FileProps = { row: Extract<TreeRow, { type: 'file' }>; file: ReviewFile | undefined; current: boolean; decides: boolean; onPick: (path: string) => void };

function FileRow({ row, file, current, decides, onPick }: FileProps) {
  const { by_file } = useDesk();
  const kind = file && kindWords(file);
  return (
    <button
      style={{ paddingLeft: 8 + row.depth * 12 }}
      className={`${current ? 'here' : ''}${file?.viewed ? ' seen' : ''}`}
      aria-current={current ? 'true' : undefined}
      title={nameOf(row.path)}
      onClick={() => onPick(row.path)}
    >
      <i className={`change change-${file?.change ?? 'modified'}`} aria-label={file?.change ?? 'modified'} role="img" />
      <span className="files-name">{row.name}</span>
      {kind && (
        <span className="files-kind" title={kind}>
          !<span className="unseen">{kind}</span>
        </span>
      )}
      {file?.viewed && (
        <span className="files-seen" title="Viewed">
          <Icon name="check" size={11} />
          <span className="unseen">viewed</span>
        </span>
      )}
      <span className="gap" />
      {decides && <Decided hunks={by_file.get(row.path) ?? []} />}
    </button>
  );
}

function FolderRow({ row, toggle }: { row: Extract<TreeRow, { type: 'folder' }>; toggle: (path: string) => void }) {
  return (
    <button style={{ paddingLeft: 6 + row.depth * 12 }} aria-expanded={row.open} onClick={() => toggle(row.path)}>
      <span className={row.open ? 'caret open' : 'caret'}>
        <Icon name="right" size={11} />
      </span>
      <span className="files-name soft">{row.name}</span>
    </button>
  );
}

type Props = { paths: string[]; of_review: ReadonlyMap<string, ReviewFile>; here: Here; onPick: (path: string) => void; decides: boolean };

/** The changed files as a tree, with what is decided of each. Only the rows in sight are drawn: there may be thousands. */
export function Files({ paths, of_review, here, onPick, decides }: Props) {
  const [filter, setFilter] = useState('');
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const toggle = (path: string) =>
    setClosed((old) => {
      const next = new Set(old);
      if (!next.delete(path)) next.add(path);
      return next;
    });
  const wanted = useDeferredValue(filter);
  const rows = useMemo(() => treeRows(paths, closed, wanted), [paths, closed, wanted]);
  const current = useHere(here) ?? paths[0];
  const height = useMedia('(max-width: 900px)') ? drawer_row_height : row_height;
  const box = useRef<HTMLDivElement>(null);
  const virtual = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => height,
    getItemKey: (i) => `${rows[i]?.type} ${rows[i]?.path}`,
    paddingEnd: space_below,
    overscan: 8,
    useFlushSync: false,
  });
  useEffect(() => virtual.measure(), [virtual, height]);
  return (
    <nav className="files" aria-label="Files">
      <SearchField page="Review" word="Search the files" label="Search the files" placeholder="Search files" value={filter} change={setFilter} />
      <div className="files-list" ref={box}>
        <ul style={{ height: virtual.getTotalSize(), position: 'relative' }}>
          {virtual.getVirtualItems().map((item) => {
            const row = rows[item.index];
            if (!row) return null;
            return (
              <li key={item.key} className="virtual" aria-setsize={rows.length} aria-posinset={item.index + 1} style={{ height: item.size, transform: `translateY(${item.start}px)` }}>
                {row.type === 'folder' ? (
                  <FolderRow row={row} toggle={toggle} />
                ) : (
                  <FileRow row={row} file={of_review.get(row.path)} current={row.path === current} decides={decides} onPick={onPick} />
                )}
              </li>
            );
          })}
        </ul>
      </div>
      {rows.length === 0 && <p className="soft files-none">No file is called like that.</p>}
    </nav>
  );
}
