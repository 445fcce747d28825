import { Command } from '../ui/bits';
import { Modal } from '../ui/dialog';
import { AppliedWords } from './apply';
import { useDesk } from './desk';

/** How to take the result to one's own clone. */
export function Fetch({ open, onClose }: { open: boolean; onClose: () => void }) {
  const { job, run, review } = useDesk();
  const address = `${window.location.origin}/api/v1/jobs/${job.id}/runs/${run.number}/patch`;
  return (
    <Modal open={open} onClose={onClose} title="Take it to your clone" wide>
      <div className="act">
        {review.applied && <AppliedWords applied={review.applied} />}
        {run.pushed && run.branch && (
          <>
            <p>All that run {run.number} changed, from the repository:</p>
            <Command text={`git fetch origin ${run.branch} && git switch --detach FETCH_HEAD`} />
          </>
        )}
        <p>The same as a patch, with the command line of Forge:</p>
        <Command text={`forge apply ${job.id.slice(0, 10)} --run ${run.number}`} />
        <p>Or with a token:</p>
        <Command text={`curl -sH "Authorization: Bearer $FORGE_TOKEN" ${address} | git apply --index`} />
      </div>
    </Modal>
  );
}
