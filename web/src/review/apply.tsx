import { useQuery, useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { getText, post, Refusal } from '../api/client';
import type { AppliedReview, ApplyRequest, Review, ReviewComment } from '../api/types';
import { Command, Stat, Waiting } from '../ui/bits';
import { Failure } from '../ui/boundary';
import { Modal } from '../ui/dialog';
import { toast } from '../ui/toasts';
import { count } from '../words/money';
import { withActKey } from './act-key';
import { goesIn, isCommit } from './apply-words';
import { useDesk } from './desk';
import { tooLong } from './limits';
import { pathOf } from './patch';
import { patchStats } from './patch-stats';
import { keyOf, nameOf } from './paths';
import { TooLong } from './too-long';
import { Unsaved } from './unsaved';
import { linesWords } from './words';

/** The suggestions that go into the commit beside what is accepted. */
const takenOf = (review: Review) => review.comments.filter((comment) => comment.suggestion !== null && comment.accepted && !comment.stale);

/** What is in the patch of the accepted hunks, by file. */
function Accepted({ revision }: { revision: number }) {
  const { job, run } = useDesk();
  const path = `/api/v1/jobs/${job.id}/runs/${run.number}/patch?part=accepted`;
  const accepted = useQuery({ queryKey: ['accepted', job.id, run.number, revision], queryFn: ({ signal }) => getText(path, 'text/x-patch', signal), staleTime: Infinity });
  if (accepted.error) return <Failure error={accepted.error} again={() => void accepted.refetch()} />;
  if (accepted.data === undefined) return <Waiting what="Reading what is accepted" />;
  const files = patchStats(accepted.data);
  return (
    <ul className="goes-in" tabIndex={0} aria-label="What goes in">
      {files.map((file, i) => (
        <li key={i}>
          <span className="mono">{nameOf(pathOf(file.patch))}</span>
          {file.word && <span className="tag">{file.word}</span>}
          <span className="gap" />
          {file.insertions + file.deletions > 0 && <Stat stat={{ files: 1, insertions: file.insertions, deletions: file.deletions }} />}
        </li>
      ))}
    </ul>
  );
}

/** Lines that are suggested in place of others, and taken. */
function Suggestions({ taken, alone }: { taken: ReviewComment[]; alone: boolean }) {
  return (
    <div className="goes-in-too">
      <p>
        {alone ? '' : 'and '}
        {count(taken.length, 'suggestion')}
      </p>
      <ul className="goes-in" tabIndex={0} aria-label="Suggestions that go in">
        {taken.map((comment) => (
          <li key={comment.id}>
            <span className="mono">{nameOf(keyOf(comment))}</span>
            <span className="soft">{linesWords(comment)}</span>
            <span className="gap" />
            <span className="soft">by {comment.author}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}

type Done = { applied: AppliedReview; suggestions?: number };

export function AppliedWords({ applied, suggestions }: Done) {
  const { job, run } = useDesk();
  return (
    <>
      <p>
        {isCommit(applied.accepted, suggestions)} the commit <code>{applied.commit.slice(0, 10)}</code> on <code>{applied.branch}</code>
        {applied.pushed ? ', pushed.' : ', not pushed.'}
      </p>
      {applied.pushed ? <Command text={`git fetch origin ${applied.branch} && git merge FETCH_HEAD`} /> : <Command text={`forge review ${job.id.slice(0, 10)} --run ${run.number} --patch --accepted | git apply --index`} />}
    </>
  );
}

function Form({ onClose, onDone }: { onClose: () => void; onDone: (done: Done) => void }) {
  const desk = useDesk();
  const { review, run, job, drafts } = desk;
  const { counts } = review;
  const client = useQueryClient();
  const [message, setMessage] = useState(drafts.text('message') || run.summary);
  const [push, setPush] = useState(job.push);
  const [confirmed, setConfirmed] = useState(false);
  const [busy, setBusy] = useState(false);
  const [error, setError] = useState<unknown>();
  const taken = takenOf(review);
  const suggestions = taken.length;
  const nothing = counts.accepted + suggestions === 0;
  const apply = async () => {
    setBusy(true);
    setError(undefined);
    try {
      const revision = await desk.confirmed();
      const request: ApplyRequest = { revision, message, push, confirm_undecided: confirmed };
      const applied = await withActKey(drafts, 'apply', (headers) => post<AppliedReview>(`${desk.path}/apply`, request, headers));
      drafts.keep('message', '');
      if (applied.commit === review.applied?.commit) toast('That had been applied already: nothing new was done', 'warn');
      onDone({ applied, suggestions });
      await Promise.all([desk.again(), ...['job', 'runs'].map((what) => client.invalidateQueries({ queryKey: [what, job.id] }))]);
    } catch (refused) {
      setError(refused);
      if (refused instanceof Refusal && refused.status === 412) await desk.again();
    }
    setBusy(false);
  };
  return (
    <form
      className="act"
      onSubmit={(event) => {
        event.preventDefault();
        void apply();
      }}
    >
      <div className="sums">
        <span className="yes">{counts.accepted} accepted</span>
        <span className="no">{counts.rejected} rejected</span>
        <span>{counts.undecided} undecided</span>
      </div>
      {nothing ? <p className="soft">Nothing is accepted, so there is nothing to apply.</p> : counts.accepted > 0 && <Accepted revision={review.revision} />}
      {suggestions > 0 && <Suggestions taken={taken} alone={counts.accepted === 0} />}
      <label>
        <span>Commit message</span>
        <textarea
          rows={5}
          value={message}
          onChange={(event) => {
            setMessage(event.target.value);
            drafts.keep('message', event.target.value === run.summary ? '' : event.target.value);
          }}
        />
      </label>
      <TooLong text={message} limit="message" />
      <p className="soft small-text">
        One commit on the base {run.base_commit && <code>{run.base_commit.slice(0, 8)}</code>}, as the branch <code>{run.branch}-accepted</code>. Your base branch stays as it is.
      </p>
      <label className="check">
        <input type="checkbox" checked={push} onChange={(event) => setPush(event.target.checked)} />
        <span>
          Push the branch to <span className="mono">{job.repository}</span>
        </span>
      </label>
      {counts.undecided > 0 && !nothing && (
        <label className="check confirm">
          <input type="checkbox" checked={confirmed} onChange={(event) => setConfirmed(event.target.checked)} />
          Leave out {count(counts.undecided, 'change')} that nobody has decided
        </label>
      )}
      {desk.blocked ? <Unsaved /> : error !== undefined && <Failure error={error} />}
      <div className="actions">
        <button type="button" onClick={onClose}>
          Back
        </button>
        <button className="primary" disabled={busy || desk.blocked || nothing || tooLong(message, 'message') !== undefined || (counts.undecided > 0 && !confirmed)}>
          {busy ? 'Applying…' : `Apply ${goesIn(counts.accepted, suggestions)}`}
        </button>
      </div>
    </form>
  );
}

/** Makes one commit of what was accepted, after a look at it. */
export function Apply({ open, onClose }: { open: boolean; onClose: () => void }) {
  const [done, setDone] = useState<Done>();
  const close = () => {
    onClose();
    setDone(undefined);
  };
  return (
    <Modal open={open} onClose={close} title={done ? 'Applied' : 'Apply what is accepted'} wide>
      {done ? (
        <div className="act">
          <AppliedWords {...done} />
          <div className="actions">
            <button className="primary" onClick={close}>
              Done
            </button>
          </div>
        </div>
      ) : (
        <Form onClose={close} onDone={setDone} />
      )}
    </Modal>
  );
}
