import type { ReviewFile, ReviewHunk } from '../api/types';
import { Stat } from '../ui/bits';
import { Icon } from '../ui/icons';
import { useDesk } from './desk';
import { tally } from './order';
import { keyOf, nameOf, oldOf } from './paths';
import type { ShownFile } from './shown-file';
import { kindWords } from './words';

const change_words: Partial<Record<ReviewFile['change'], string>> = { added: 'new', deleted: 'deleted', renamed: 'renamed' };

export function Decided({ hunks }: { hunks: ReviewHunk[] }) {
  const { decided, rejected, total } = tally(hunks);
  if (!total) return null;
  const done = decided === total;
  return (
    <span className={`decided${done ? (rejected ? ' some-no' : ' all-yes') : ''}`} title={`${decided} of ${total} decided${rejected ? `, ${rejected} rejected` : ''}`}>
      {done && <Icon name={rejected ? 'cross' : 'check'} size={10} />}
      {decided}/{total}
    </span>
  );
}

/** In place of lines that may not be what the change is. */
export function Unsafe({ patch }: { patch: string }) {
  return (
    <p className="spot-remark soft">
      This diff cannot be shown safely: it does not agree with what the review knows of the file. Nothing can be decided here.{' '}
      <a href={patch} download>
        Download the patch
      </a>{' '}
      to look at it.
    </p>
  );
}

type Props = { shown: ShownFile; file?: ReviewFile; folded: boolean; fold: () => void; decides: boolean; onViewed: (viewed: boolean) => void };

/** The head of a file, which stays in sight while its lines go by. */
export function FileHead({ shown, file, folded, fold, decides, onViewed }: Props) {
  const { folded_because, insertions, deletions, line_ends, marks, unsafe } = shown;
  const path = nameOf(shown.path);
  const old_path = file && nameOf(keyOf(oldOf(file)));
  const { by_file, may, decide } = useDesk();
  const hunks = by_file.get(shown.path) ?? [];
  const cut = path.lastIndexOf('/') + 1;
  const all = (verdict: 'accept' | 'reject') => hunks.length > 0 && hunks.every((hunk) => hunk.verdict === verdict);
  const word = file && change_words[file.change];
  const kind = file && kindWords(file);
  return (
    <div className={`file-head${folded ? ' folded' : ''}`}>
      <button className="ghost small file-fold" aria-expanded={!folded} aria-label={`${folded ? 'Unfold' : 'Fold'} ${path}`} onClick={fold}>
        <span className={folded ? 'caret' : 'caret open'}>
          <Icon name="right" size={12} />
        </span>
      </button>
      <span className="file-path mono" title={old_path !== undefined && old_path !== path ? `${old_path} → ${path}` : path}>
        <span className="file-folder">
          <bdi dir="ltr">{path.slice(0, cut)}</bdi>
        </span>
        <b>
          <bdi dir="ltr">{path.slice(cut)}</bdi>
        </b>
      </span>
      {word && <span className={`tag tag-${file.change}`}>{word}</span>}
      {kind && (
        <span className="tag tag-warn" title={kind}>
          {kind}
        </span>
      )}
      {folded_because && (
        <span className="tag" title={folded_because}>
          {folded_because}
        </span>
      )}
      {line_ends && (
        <span className="tag tag-warn" title={`The ends of lines change: ${line_ends}`}>
          line ends: {line_ends}
        </span>
      )}
      {marks.length > 0 && (
        <span className="tag tag-warn" title={`Holds invisible characters, shown as ${marks.join(' ')}`}>
          invisible characters: {marks.slice(0, 2).join(' ')}
          {marks.length > 2 && ' …'}
        </span>
      )}
      {insertions + deletions > 0 && <Stat stat={{ files: 1, insertions, deletions }} />}
      <span className="gap" />
      {decides && <Decided hunks={hunks} />}
      {decides && may.decide && !unsafe && hunks.length > 0 && (
        <span className="file-buttons">
          <button className="small yes" aria-pressed={all('accept')} title="Accept all of this file" aria-label={`Accept all of ${path}`} onClick={() => decide(hunks, all('accept') ? null : 'accept')}>
            <Icon name="check" size={12} />
          </button>
          <button className="small no" aria-pressed={all('reject')} title="Reject all of this file" aria-label={`Reject all of ${path}`} onClick={() => decide(hunks, all('reject') ? null : 'reject')}>
            <Icon name="cross" size={12} />
          </button>
        </span>
      )}
      {file && may.decide && (
        <label className="check viewed">
          <input type="checkbox" checked={file.viewed} onChange={(event) => onViewed(event.target.checked)} />
          <span className="wide-only">Viewed</span>
          <span className="unseen">{path}</span>
        </label>
      )}
    </div>
  );
}
