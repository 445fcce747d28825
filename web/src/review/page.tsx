// The review of a run: its diff, with what was decided and said between the lines.
import '../styles/review.css';
import '../styles/review-diff.css';
import '../styles/review-strips.css';
import { useState } from 'react';
import { useDiff, useLargeDiff, useReview } from '../api/queries';
import type { Job, Review, Run } from '../api/types';
import { Waiting } from '../ui/bits';
import { Failure } from '../ui/boundary';
import { bytes } from '../words/money';
import { isLive } from '../words/states';
import { DeskProvider, useDeskOf } from './desk';
import { Workplace } from './workplace';

function WithReview({ job, run, runs, text, review }: { job: Job; run: Run; runs: Run[]; text: string; review: Review }) {
  const desk = useDeskOf(job, run, review);
  return (
    <DeskProvider value={desk}>
      <Workplace text={text} runs={runs} />
    </DeskProvider>
  );
}

function TooLarge({ size, job, run, onShow }: { size: number; job: Job; run: Run; onShow: () => void }) {
  return (
    <div className="empty">
      <p>The diff has {bytes(size)}. Showing it may take a while.</p>
      <div className="actions middle">
        <button onClick={onShow}>Show it</button>
        <a className="button" href={`/api/v1/jobs/${job.id}/runs/${run.number}/patch`} download>
          Download it
        </a>
      </div>
    </div>
  );
}

export default function ReviewPage({ job, run, runs }: { job: Job; run: Run; runs: Run[] }) {
  const has_diff = run.diff_blob !== null;
  const [wanted, setWanted] = useState(false);
  const diff = useDiff(job.id, run.number, run.diff_blob);
  const large = useLargeDiff(job.id, run.number, wanted && diff.data?.text === null);
  const review = useReview(job.id, run.number, has_diff);
  if (!has_diff)
    return (
      <div className="empty">
        <p>{isLive(run.state) ? 'The changes show up here when the agent is done.' : 'This run left no changes.'}</p>
      </div>
    );
  const error = diff.error ?? review.error ?? large.error;
  if (error && !(review.data && diff.data)) return <Failure error={error} again={() => void Promise.all([diff.refetch(), review.refetch(), large.refetch()])} />;
  if (!diff.data || !review.data) return <Waiting what="Reading the diff" />;
  const text = diff.data.text ?? large.data;
  if (text === undefined) return wanted ? <Waiting what="Reading the diff" /> : <TooLarge size={diff.data.bytes} job={job} run={run} onShow={() => setWanted(true)} />;
  return <WithReview job={job} run={run} runs={runs} text={text} review={review.data} />;
}
