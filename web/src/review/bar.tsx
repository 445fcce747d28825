import * as Menu from '@radix-ui/react-dropdown-menu';
import { Icon } from '../ui/icons';
import { useDesk } from './desk';
import type { ViewChoice } from './view-choice';

export type Looking = { choice: ViewChoice; whitespace: boolean; since: number | null; only_new: boolean };

type Props = {
  looking: Looking;
  look: (change: Partial<Looking>) => void;
  /** Runs whose result this one can be compared with. */
  earlier: number[];
  has_new: boolean;
  onFiles: () => void;
  onApply: () => void;
  onSendBack: () => void;
  onDismiss: () => void;
  onFetch: () => void;
  onSummary: () => void;
  patch: (part: 'all' | 'accepted') => string;
};

function Progress() {
  const { counts } = useDesk().review;
  const total = counts.accepted + counts.rejected + counts.undecided;
  const decided = total - counts.undecided;
  const part = (n: number) => `${total ? (100 * n) / total : 0}%`;
  return (
    <div className="progress" title={`${counts.accepted} accepted, ${counts.rejected} rejected, ${counts.undecided} undecided`}>
      <span className="progress-words">
        <b>{decided}</b> of {total} <span className="wide-only">decided</span>
      </span>
      <span className="progress-bar" role="meter" aria-label="Decided" aria-valuemin={0} aria-valuemax={total} aria-valuenow={decided}>
        <i className="yes" style={{ width: part(counts.accepted) }} />
        <i className="no" style={{ width: part(counts.rejected) }} />
      </span>
      {counts.stale > 0 && <span className="soft wide-only">{counts.stale} changed since</span>}
    </div>
  );
}

function Saving() {
  const { state, saveAgain, refused, acknowledge } = useDesk();
  if (state === 'refused')
    return (
      <span className="saving failed" role="status" title={refused}>
        Refused<span className="wide-only refused-words">{refused}</span>
        <button className="small" onClick={acknowledge}>
          Go on without
        </button>
      </span>
    );
  if (state === 'failed')
    return (
      <span className="saving failed" role="status">
        Not saved
        <button className="small" onClick={saveAgain}>
          Try again
        </button>
      </span>
    );
  return (
    <span className={`saving ${state}`} role="status">
      {state === 'saving' ? 'Saving…' : state === 'saved' ? 'Saved' : ''}
    </span>
  );
}

const Tick = () => (
  <span className="tick">
    <Menu.ItemIndicator>
      <Icon name="check" size={13} />
    </Menu.ItemIndicator>
  </span>
);

function ViewMenu({ looking, look, has_new }: Pick<Props, 'looking' | 'look' | 'has_new'>) {
  const { choice } = looking;
  const set = (change: Partial<ViewChoice>) => look({ choice: { ...choice, ...change } });
  const stay = (event: Event) => event.preventDefault();
  const checks: [string, boolean, (on: boolean) => void][] = [
    ['Differences within lines', choice.words, (words) => set({ words })],
    ['Wrap long lines', choice.wrap, (wrap) => set({ wrap })],
    ['Ignore white space', !looking.whitespace, (on) => look({ whitespace: !on })],
    ...(has_new && looking.since === null ? [['Only what is new in this run', looking.only_new, (only_new: boolean) => look({ only_new })] as [string, boolean, (on: boolean) => void]] : []),
  ];
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger className="small-view">View</Menu.Trigger>
      <Menu.Portal>
        <Menu.Content className="menu" align="end" sideOffset={6}>
          <Menu.RadioGroup value={choice.split ? 'split' : 'unified'} onValueChange={(value) => set({ split: value === 'split' })}>
            {(['unified', 'split'] as const).map((each) => (
              <Menu.RadioItem key={each} value={each} className="menu-item" onSelect={stay}>
                <Tick />
                {each === 'split' ? 'Side by side' : 'One column'}
              </Menu.RadioItem>
            ))}
          </Menu.RadioGroup>
          <div className="menu-line" />
          {checks.map(([word, on, change]) => (
            <Menu.CheckboxItem key={word} className="menu-item" checked={on} onCheckedChange={change} onSelect={stay}>
              <Tick />
              {word}
            </Menu.CheckboxItem>
          ))}
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  );
}

function MoreMenu(props: Props) {
  const { review, may, blocked } = useDesk();
  const decided = review.status === 'waiting' || review.status === 'none' || review.status === 'changes_requested';
  return (
    <Menu.Root modal={false}>
      <Menu.Trigger className="ghost" aria-label="More">
        <Icon name="more" />
      </Menu.Trigger>
      <Menu.Portal>
        <Menu.Content className="menu" align="end" sideOffset={6}>
          {may.decide && (
            <Menu.Item className="menu-item" onSelect={props.onSummary}>
              Words about the whole
            </Menu.Item>
          )}
          <Menu.Item className="menu-item" onSelect={props.onFetch}>
            Commands to fetch it
          </Menu.Item>
          <Menu.Item className="menu-item" asChild>
            <a href={props.patch('all')} download>
              Download all as a patch
            </a>
          </Menu.Item>
          {review.counts.accepted > 0 && (
            <Menu.Item className="menu-item" asChild>
              <a href={props.patch('accepted')} download>
                Download what is accepted
              </a>
            </Menu.Item>
          )}
          {may.decide && decided && (
            <>
              <div className="menu-line" />
              <Menu.Item className="menu-item" disabled={blocked} onSelect={props.onDismiss}>
                Dismiss
              </Menu.Item>
            </>
          )}
        </Menu.Content>
      </Menu.Portal>
    </Menu.Root>
  );
}

/** Above the diff: how far the review is, how it is shown, and how it ends. */
export function Bar(props: Props) {
  const { may, blocked } = useDesk();
  const { looking, look, earlier } = props;
  return (
    <div className="review-bar" role="toolbar" aria-label="Review">
      <button className="narrow-only" onClick={props.onFiles}>
        Files
      </button>
      <Progress />
      {may.decide ? <Saving /> : <span className="soft wide-only">Your role may read this review</span>}
      <span className="gap" />
      {earlier.length > 0 && (
        <select className="since" aria-label="Compare with" value={looking.since ?? ''} onChange={(event) => look({ since: event.target.value ? Number(event.target.value) : null })}>
          <option value="">Whole change</option>
          {earlier.map((run) => (
            <option key={run} value={run}>
              Since run {run}
            </option>
          ))}
        </select>
      )}
      <ViewMenu {...props} />
      {/* On a phone these stick to the bottom, where a thumb is. */}
      <div className={may.act ? 'review-acts at-thumb' : 'review-acts'}>
        {may.act && (
          <>
            <button disabled={blocked} onClick={props.onSendBack}>
              Send back
            </button>
            <button className="primary" disabled={blocked} onClick={props.onApply}>
              Apply
            </button>
          </>
        )}
        <MoreMenu {...props} />
      </div>
    </div>
  );
}
