import { useState } from 'react';
import { Icon } from '../ui/icons';
import { SearchField } from '../ui/search-field';
import { useDesk } from './desk';
import { Decided } from './file-head';
import { treeRows } from './file-tree';
import { keyOf, nameOf } from './paths';
import { kindWords } from './words';

type Props = { paths: string[]; current: string | undefined; onPick: (path: string) => void; decides: boolean };

/** The changed files as a tree, with what is decided of each. */
export function Files({ paths, current, onPick, decides }: Props) {
  const { review, by_file } = useDesk();
  const [filter, setFilter] = useState('');
  const [closed, setClosed] = useState<ReadonlySet<string>>(new Set());
  const toggle = (path: string) =>
    setClosed((old) => {
      const next = new Set(old);
      if (!next.delete(path)) next.add(path);
      return next;
    });
  const files = new Map(review.files.map((file) => [keyOf(file), file]));
  const rows = treeRows(paths, closed, filter);
  return (
    <nav className="files" aria-label="Files">
      <SearchField page="Review" word="Search the files" label="Search the files" placeholder="Search files" value={filter} change={setFilter} />
      <ul>
        {rows.map((row) => {
          const file = files.get(row.path);
          const kind = file && kindWords(file);
          return (
            <li key={`${row.type} ${row.path}`}>
              {row.type === 'folder' ? (
                <button style={{ paddingLeft: 6 + row.depth * 12 }} aria-expanded={row.open} onClick={() => toggle(row.path)}>
                  <span className={row.open ? 'caret open' : 'caret'}>
                    <Icon name="right" size={11} />
                  </span>
                  <span className="files-name soft">{row.name}</span>
                </button>
              ) : (
                <button
                  style={{ paddingLeft: 8 + row.depth * 12 }}
                  className={`${row.path === current ? 'here' : ''}${file?.viewed ? ' seen' : ''}`}
                  aria-current={row.path === current ? 'true' : undefined}
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
              )}
            </li>
          );
        })}
      </ul>
      {rows.length === 0 && <p className="soft files-none">No file is called like that.</p>}
    </nav>
  );
}
