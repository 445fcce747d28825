import { useEffect, useRef, useState } from 'react';
import type { HunkVerdict, ReviewHunk } from '../api/types';
import { Icon } from '../ui/icons';
import { useDesk } from './desk';
import { keyOf } from './paths';
import { fileOf, hunkOf } from './index-of';
import { tooLong } from './limits';
import { TooLong } from './too-long';
import { wholeWords } from './words';

const classOf = (hunk: ReviewHunk) => (hunk.verdict === 'accept' ? 'accepted' : hunk.verdict === 'reject' ? 'rejected' : hunk.stale ? 'stale' : 'open');

function State({ hunk }: { hunk: ReviewHunk }) {
  const { me } = useDesk();
  const who = hunk.by === me ? 'you' : hunk.by;
  if (hunk.verdict)
    return (
      <span className="strip-state">
        <b>{hunk.verdict === 'accept' ? 'Accepted' : 'Rejected'}</b>
        {who && <span className="soft">by {who}</span>}
        {hunk.from_run !== null && <span className="soft">in run {hunk.from_run}, unchanged since</span>}
      </span>
    );
  if (hunk.earlier)
    return (
      <span className="strip-state">
        <b>Changed since it was {hunk.earlier.verdict === 'accept' ? 'accepted' : 'rejected'}</b>
        <span className="soft">
          by {hunk.earlier.by === me ? 'you' : hunk.earlier.by}
          {hunk.earlier.run !== null && ` in run ${hunk.earlier.run}`}
          {hunk.earlier.reason && `: ${hunk.earlier.reason}`}
        </span>
      </span>
    );
  return <span className="strip-state soft">Undecided</span>;
}

function Reason({ hunk }: { hunk: ReviewHunk }) {
  const { drafts, decide, reason, reasoning } = useDesk();
  const place = `reason:${hunk.hunk_id}`;
  const [text, setText] = useState(drafts.text(place) || (hunk.reason ?? ''));
  const field = useRef<HTMLInputElement>(null);
  const asked = reasoning === hunk.hunk_id;
  useEffect(() => {
    if (asked) field.current?.focus({ preventScroll: true });
  }, [asked]);
  const save = () => {
    // Stays in its field until it is shorter.
    if (tooLong(text.trim(), 'reason')) return;
    drafts.keep(place, '');
    if (text.trim() !== (hunk.reason ?? '')) decide([hunk], 'reject', text.trim());
    reason(undefined);
  };
  return (
    <>
      <input
        ref={field}
        className="strip-reason"
        aria-label="Why it is rejected"
        placeholder="Why? The agent is told when this is sent back"
        value={text}
        onChange={(event) => {
          setText(event.target.value);
          drafts.keep(place, event.target.value);
        }}
        onBlur={save}
        onKeyDown={(event) => {
          if (event.key !== 'Enter' && event.key !== 'Escape') return;
          event.preventDefault();
          event.currentTarget.blur();
        }}
      />
      <TooLong text={text.trim()} limit="reason" />
    </>
  );
}

/** Below each hunk: what was decided about it, by whom, and the buttons for it. */
export function HunkStrip({ id, onComment, fresh }: { id: string; onComment?: (hunk: ReviewHunk) => void; fresh: boolean }) {
  const desk = useDesk();
  const { review, may, decide, current, look, drafts } = desk;
  const hunk = hunkOf(review, id);
  if (!hunk) return null;
  const file = fileOf(review, keyOf(hunk));
  const press = (verdict: HunkVerdict) => {
    look(id);
    const next = hunk.verdict === verdict ? null : verdict;
    decide([hunk], next);
    if (next === 'reject') desk.reason(id);
  };
  const writing = hunk.verdict === 'reject' && may.decide && (desk.reasoning === id || drafts.text(`reason:${id}`) !== '');
  return (
    <div className={`strip ${classOf(hunk)}${current === id ? ' current' : ''}`} data-hunk={id}>
      <div className="strip-line">
        {hunk.kind === 'file' && <span className="strip-whole">{wholeWords(file)}</span>}
        <State hunk={hunk} />
        {fresh && <span className="tag">new in this run</span>}
        <span className="gap" />
        {may.decide && (
          <span className="strip-buttons">
            <button className="small yes" aria-pressed={hunk.verdict === 'accept'} onClick={() => press('accept')}>
              <Icon name="check" size={12} /> Accept
            </button>
            <button className="small no" aria-pressed={hunk.verdict === 'reject'} onClick={() => press('reject')}>
              <Icon name="cross" size={12} /> Reject
            </button>
            {onComment && hunk.kind === 'text' && (
              <button className="small" onClick={() => onComment(hunk)}>
                Comment
              </button>
            )}
          </span>
        )}
      </div>
      {writing ? (
        <Reason key={hunk.reason} hunk={hunk} />
      ) : (
        hunk.verdict === 'reject' && (
          <div className="strip-why">
            {hunk.reason ? <span>{hunk.reason}</span> : <span className="soft">No reason given</span>}
            {may.decide && (
              <button className="ghost small" onClick={() => desk.reason(id)}>
                {hunk.reason ? 'Change' : 'Say why'}
              </button>
            )}
          </div>
        )
      )}
    </div>
  );
}
