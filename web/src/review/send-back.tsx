import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { useLocation } from 'wouter';
import { post, Refusal } from '../api/client';
import type { SendBackRequest, SentBack } from '../api/types';
import { Failure } from '../ui/boundary';
import { Modal } from '../ui/dialog';
import { ScrollBox } from '../ui/scroll-box';
import { count } from '../words/money';
import { withActKey } from './act-key';
import { useDesk } from './desk';
import { keyOf, nameOf } from './paths';
import { tooLong } from './limits';
import { TooLong } from './too-long';
import { Unsaved } from './unsaved';
import { linesWords, wholeWords } from './words';

/** What the agent will be told, as far as the review says it. */
function Told() {
  const { review, me } = useDesk();
  const rejected = review.hunks.filter((hunk) => hunk.verdict === 'reject');
  const comments = review.comments.filter((comment) => !comment.draft || comment.author === me);
  const drafts = comments.filter((comment) => comment.draft).length;
  if (!rejected.length && !comments.length && !review.summary) return <p className="soft">Nothing is rejected and nothing is commented on: only your note is told.</p>;
  return (
    <ScrollBox label="What the agent is told" className="told">
      {review.summary && <p className="told-summary">{review.summary}</p>}
      {rejected.length > 0 && <h3>{count(rejected.length, 'change')} rejected</h3>}
      <ul>
        {rejected.map((hunk) => (
          <li key={hunk.hunk_id}>
            <span className="mono">
              {nameOf(keyOf(hunk))}
              {hunk.kind === 'text' && `:${hunk.new_start}`}
            </span>
            {hunk.kind === 'file' && <span className="soft">{wholeWords(review.files.find((file) => keyOf(file) === keyOf(hunk))).toLowerCase()}</span>}
            <span className={hunk.reason ? '' : 'soft'}>{hunk.reason ?? 'no reason given'}</span>
          </li>
        ))}
      </ul>
      {comments.length > 0 && (
        <h3>
          {count(comments.length, 'comment')}
          {drafts > 0 && <span className="soft"> with {count(drafts, 'draft')} of yours, which are sent</span>}
        </h3>
      )}
      <ul>
        {comments.map((comment) => (
          <li key={comment.id}>
            <span className="mono">{nameOf(keyOf(comment))}</span>
            <span className="soft">{linesWords(comment)}</span>
            <span>{comment.body || 'a suggestion'}</span>
          </li>
        ))}
      </ul>
    </ScrollBox>
  );
}

function Form({ onClose }: { onClose: () => void }) {
  const desk = useDesk();
  const { drafts, job } = desk;
  const client = useQueryClient();
  const [, go] = useLocation();
  const [note, setNote] = useState(drafts.text('note'));
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const send = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const revision = await desk.confirmed();
      const request: SendBackRequest = { revision, ...(note.trim() && { note: note.trim() }) };
      const { run } = await withActKey(drafts, 'send-back', (headers) => post<SentBack>(`${desk.path}/send-back`, request, headers));
      drafts.keep('note', '');
      await Promise.all([desk.again(), ...['job', 'runs'].map((what) => client.invalidateQueries({ queryKey: [what, job.id] }))]);
      onClose();
      go(`/jobs/${job.id}/runs/${run.number}/trace`);
    } catch (refused) {
      setError(refused);
      setBusy(false);
      if (refused instanceof Refusal && refused.status === 412) await desk.again();
    }
  };
  const { review } = desk;
  const empty = !note.trim() && !review.summary && !review.counts.rejected && !review.comments.length;
  return (
    <form
      className="act"
      onSubmit={(event) => {
        event.preventDefault();
        void send();
      }}
    >
      <label>
        <span>Note</span>
        <textarea
          rows={4}
          placeholder="What matters most now"
          value={note}
          onChange={(event) => {
            setNote(event.target.value);
            drafts.keep('note', event.target.value);
          }}
        />
      </label>
      <TooLong text={note.trim()} limit="note" />
      <Told />
      {desk.blocked ? <Unsaved /> : error !== undefined && <Failure error={error} />}
      <div className="actions">
        <button type="button" onClick={onClose}>
          Back
        </button>
        <button className="primary" disabled={busy || desk.blocked || empty || tooLong(note.trim(), 'note') !== undefined}>
          {busy ? 'Sending…' : 'Send back'}
        </button>
      </div>
    </form>
  );
}

/** Queues a follow-up run that is told the review. */
export function SendBack({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { run } = useDesk();
  return (
    <Modal open={open} onClose={onClose} title={`Send run ${run.number} back`} description="The next run goes on from this one. The agent is told your note and this:" wide>
      <Form onClose={onClose} />
    </Modal>
  );
}
