import { useDesk } from './desk';
import type { Looking } from './bar';
import { SummaryText } from './summary';

type Props = {
  looking: Looking;
  look: (change: Partial<Looking>) => void;
  /** How many hunks the run before did not have; undefined when that is not what one compares with. */
  fresh: number | undefined;
  nothing: boolean;
  onSummary: () => void;
};

function Applied() {
  const { applied } = useDesk().review;
  if (!applied) return null;
  return (
    <p className="review-hint done">
      <span>
        Applied by {applied.by}: <code>{applied.commit.slice(0, 10)}</code> on <code>{applied.branch}</code>
        {applied.pushed ? ', pushed' : ', not pushed'}
      </span>
    </p>
  );
}

/** Above the diff: what it is that is shown, where that is not simply the whole change. */
export function Hints({ looking, look, fresh, nothing, onSummary }: Props) {
  const { run } = useDesk();
  const compared = looking.since !== null;
  return (
    <>
      <Applied />
      <SummaryText onChange={onSummary} />
      {compared && (
        <p className="review-hint">
          What run {run.number} did on top of run {looking.since}, for reading: verdicts are given on the whole change.
          {fresh !== undefined && fresh > 0 && (
            <button className="small" onClick={() => look({ since: null, only_new: true })}>
              Decide the {fresh === 1 ? 'one hunk that is' : `${fresh} hunks that are`} new
            </button>
          )}
        </p>
      )}
      {!compared && !looking.whitespace && (
        <p className="review-hint">
          Without differences of white space, for reading: verdicts are given on the real lines.
          <button className="small" onClick={() => look({ whitespace: true })}>
            Show white space
          </button>
        </p>
      )}
      {!compared && looking.only_new && (
        <p className="review-hint">
          Only files with hunks that run {run.from_run} did not have.
          <button className="small" onClick={() => look({ only_new: false })}>
            Show all
          </button>
        </p>
      )}
      {nothing && <p className="review-hint">{compared ? 'There is no difference between the two runs.' : 'Nothing but white space has changed.'}</p>}
    </>
  );
}
