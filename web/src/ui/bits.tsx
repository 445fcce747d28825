import { useState, type ReactNode } from 'react';
import type { DiffStat, ReviewStatus, Run, State } from '../api/types';
import { count } from '../words/money';
import { isLive, reasonWords, reviewTone, reviewWord, stateTone, stateWord, type Tone } from '../words/states';
import { ago, moment } from '../words/time';
import { Icon } from './icons';
import { toast } from './toasts';

export function Chip({ tone, children, live }: { tone: Tone; children: ReactNode; live?: boolean }) {
  return (
    <span className={`chip tone-${tone}`}>
      <i className={live ? 'dot live' : 'dot'} />
      {children}
    </span>
  );
}

export const StateChip = ({ state, reason }: { state: State; reason?: Run['reason'] }) => (
  <Chip tone={stateTone(state)} live={isLive(state) && state !== 'queued'}>
    {stateWord(state)}
    {reason && state === 'failed' && <span className="chip-more">{reasonWords(reason)}</span>}
  </Chip>
);

export const ReviewChip = ({ status }: { status: ReviewStatus }) => (status === 'none' ? null : <Chip tone={reviewTone(status)}>{reviewWord(status)}</Chip>);

export function Stat({ stat }: { stat: DiffStat }) {
  if (!stat.files) return null;
  return (
    <span className="stat" title={`${count(stat.files, 'file')}, ${stat.insertions} added, ${stat.deletions} removed`}>
      <b className="add">+{stat.insertions}</b> <b className="del">−{stat.deletions}</b>
    </span>
  );
}

export const Ago = ({ ms, now, className }: { ms: number; now: number; className?: string }) => (
  <time className={className} dateTime={new Date(ms).toISOString()} title={moment(ms)}>
    {ago(ms, now)}
  </time>
);

export function Copy({ text, label }: { text: string; label: string }) {
  const copy = () =>
    navigator.clipboard?.writeText(text).then(
      () => toast('Copied'),
      () => toast('The browser does not let this page copy', 'bad'),
    );
  return (
    <button className="ghost small" onClick={() => void copy()} aria-label={label} title={label}>
      <Icon name="copy" size={13} />
    </button>
  );
}

/** A command to be taken to a terminal. */
export const Command = ({ text }: { text: string }) => (
  <div className="command">
    <code>{text}</code>
    <Copy text={text} label="Copy the command" />
  </div>
);

/** Long things open on demand. */
export function Fold({ title, open: first = false, children, extra }: { title: ReactNode; open?: boolean; children: ReactNode; extra?: ReactNode }) {
  const [open, setOpen] = useState(first);
  return (
    <section className="panel">
      <h2>
        <button className="fold" aria-expanded={open} onClick={() => setOpen(!open)}>
          <span className={open ? 'caret open' : 'caret'}>
            <Icon name="right" size={12} />
          </span>
          {title}
        </button>
        {extra}
      </h2>
      {open && children}
    </section>
  );
}

export const Panel = ({ title, children, extra, tone }: { title: ReactNode; children: ReactNode; extra?: ReactNode; tone?: Tone }) => (
  <section className={tone ? `panel edge-${tone}` : 'panel'}>
    <h2>
      <span>{title}</span>
      {extra}
    </h2>
    {children}
  </section>
);

export const Waiting = ({ what = 'Loading' }: { what?: string }) => (
  <div className="waiting" role="status">
    {what}…
  </div>
);
