import { useQueryClient } from '@tanstack/react-query';
import { useState } from 'react';
import { Link } from 'wouter';
import { post } from '../api/client';
import type { Job, Run } from '../api/types';
import { useJobs } from '../live/live';
import { Confirm, Modal } from '../ui/dialog';
import { useKeys } from '../ui/keys';
import { useMay } from '../ui/shell';
import { toast, toastRefusal } from '../ui/toasts';
import { isEnded, isLive } from '../words/states';
import { useNewRun } from './new-run';

/** What to say to the agent, and what it starts from. */
function FollowUp({ job, run, open, onClose }: { job: Job; run: Run; open: boolean; onClose: () => void }) {
  const start = useNewRun(job);
  const [note, setNote] = useState('');
  const [fresh, setFresh] = useState(false);
  const has_result = run.head_commit !== null;
  const send = () => {
    onClose();
    setNote('');
    void start(has_result ? { kind: fresh ? 'fork' : 'follow_up', from_run: run.number, note } : { kind: 'retry', note });
  };
  return (
    <Modal
      open={open}
      onClose={onClose}
      title={has_result ? `Go on from run ${run.number}` : 'Try again with a note'}
      description={has_result ? 'The next run starts from what this one left. What you write is told to the agent beside the task.' : 'This run left no changes, so the next one starts from the base.'}
    >
      <form
        onSubmit={(event) => {
          event.preventDefault();
          send();
        }}
      >
        <textarea
          aria-label="What is to be done now"
          autoFocus
          rows={6}
          maxLength={32768}
          value={note}
          onChange={(event) => setNote(event.target.value)}
          onKeyDown={(event) => event.key === 'Enter' && (event.ctrlKey || event.metaKey) && note.trim() && send()}
          placeholder="Good, but keep the old function and mark it deprecated."
        />
        {has_result && (
          <label className="check">
            <input type="checkbox" checked={fresh} onChange={(event) => setFresh(event.target.checked)} />
            With a fresh agent that does not remember the conversation
          </label>
        )}
        <div className="actions">
          <button type="button" onClick={onClose}>
            Back
          </button>
          <button className="primary" disabled={!note.trim()}>
            Queue the run
          </button>
        </div>
      </form>
    </Modal>
  );
}

/** What may be done with the job now. */
export function Actions({ job, run }: { job: Job; run?: Run }) {
  const may = useMay('operator');
  const client = useQueryClient();
  const { book } = useJobs();
  const start = useNewRun(job);
  const [asking, setAsking] = useState<'cancel' | 'follow-up'>();
  const live = isLive(job.state);
  const cancel = async () => {
    try {
      const told = await post<Job>(`/api/v1/jobs/${job.id}/cancel`, {});
      book.put(told);
      client.setQueryData(['job', job.id], told);
      toast('The run has been told to stop');
    } catch (error) {
      toastRefusal('Cancelling failed', error);
    }
  };
  const ended = run !== undefined && isEnded(job.state);
  useKeys(
    'Job',
    !may ? [] : live ? [{ keys: 'c', word: 'Cancel', run: () => setAsking('cancel') }] : ended ? [{ keys: 'r', word: 'Retry', run: () => void start({ kind: 'retry' }) }, { keys: 'f', word: 'Follow up', run: () => setAsking('follow-up') }] : [],
  );
  if (!may) return null;
  return (
    <div className="job-actions">
      {live && !job.cancel_requested && (
        <button className="danger" onClick={() => setAsking('cancel')}>
          Cancel
        </button>
      )}
      {ended && (
        <>
          <button onClick={() => void start({ kind: 'retry' })} title="A fresh run from the job's base">
            Retry
          </button>
          <button onClick={() => setAsking('follow-up')}>Follow up</button>
        </>
      )}
      <Link className="button" href={`/new?from=${job.id}`}>
        Run again with changes
      </Link>
      {run && <FollowUp job={job} run={run} open={asking === 'follow-up'} onClose={() => setAsking(undefined)} />}
      <Confirm
        open={asking === 'cancel'}
        onClose={() => setAsking(undefined)}
        onYes={() => void cancel()}
        title="Cancel this run?"
        text="What the agent did until now is kept, and is not pushed."
        yes="Cancel the run"
        danger
      />
    </div>
  );
}
