import { useEffect, useSyncExternalStore } from 'react';
import { Refusal } from '../api/client';
import type { Tone } from '../words/states';
import { Icon } from './icons';

type Toast = { id: number; about?: string; text: string; detail?: string; tone: Tone };

const shown_ms = 6000;
const most = 4;
const listeners = new Set<() => void>();
let toasts: Toast[] = [];
let last_id = 0;

function change(next: Toast[]): void {
  toasts = next;
  for (const listener of [...listeners]) listener();
}

/** `about` names what it is about: a later word about that takes its place. */
export function toast(text: string, tone: Tone = 'good', detail?: string, about?: string): void {
  retract(about);
  change([...toasts.slice(1 - most), { id: ++last_id, about, text, tone, detail }]);
}

/** What was said about this is true no more. */
export function retract(about: string | undefined): void {
  if (toasts.some((each) => each.about !== undefined && each.about === about)) change(toasts.filter((each) => each.about !== about));
}

/** Says why something that was asked for did not happen. */
export function toastRefusal(what: string, error: unknown, about?: string): void {
  if (error instanceof Refusal) toast(`${what}: ${error.message}`, 'bad', error.hint, about);
  else toast(what, 'bad', String(error), about);
}

const remove = (id: number) => change(toasts.filter((each) => each.id !== id));

function Bread({ toast: it }: { toast: Toast }) {
  const { id, tone } = it;
  useEffect(() => {
    const timer = window.setTimeout(() => remove(id), tone === 'bad' ? 2 * shown_ms : shown_ms);
    return () => window.clearTimeout(timer);
  }, [id, tone]);
  return (
    <div className={`toast tone-${it.tone}`}>
      <div>
        {it.text}
        {it.detail && <small>{it.detail}</small>}
      </div>
      <button className="ghost small" onClick={() => remove(id)} aria-label="Close">
        <Icon name="cross" size={12} />
      </button>
    </div>
  );
}

export function Toasts() {
  const list = useSyncExternalStore(
    (listener) => (listeners.add(listener), () => listeners.delete(listener)),
    () => toasts,
  );
  return (
    <div className="toasts" role="status" aria-live="polite">
      {list.map((each) => (
        <Bread key={each.id} toast={each} />
      ))}
    </div>
  );
}
