import { useEffect, useRef, useState } from 'react';
import { Modal } from './dialog';
import { counts } from './held';

/** A key or two keys one after the other ("g j"), what it does in words, and the doing. One that moves goes on while it is held. */
export type Key = { keys: string; word: string; run: (event: KeyboardEvent) => void; hidden?: boolean; moves?: boolean };

const layers: { title: string; keys: () => Key[] }[] = [];
let before = '';
let before_at = 0;
const pair_ms = 1000;

const typing = (target: EventTarget | null) =>
  target instanceof HTMLElement && (target.isContentEditable || /^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName)) && (target as HTMLInputElement).type !== 'checkbox';

function pressed(event: KeyboardEvent): void {
  if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented || typing(event.target)) return;
  // In a dialog the keys belong to it.
  if (document.querySelector('[role=dialog],[role=menu]')) return;
  if (!counts(event, find(event.key))) return;
  const pair = event.timeStamp - before_at < pair_ms ? `${before} ${event.key}` : '';
  const found = (pair && find(pair)) || find(event.key);
  before = found ? '' : event.key;
  before_at = event.timeStamp;
  if (!found) return;
  // Enter and space on a button or a link mean that one.
  if ((event.key === 'Enter' || event.key === ' ') && event.target instanceof HTMLElement && event.target.closest('a,button,summary')) return;
  event.preventDefault();
  found.run(event);
}

const find = (keys: string) => [...layers].reverse().flatMap((layer) => layer.keys()).find((each) => each.keys === keys);

/** Keys that hold while the component is shown; later ones go before earlier ones. */
export function useKeys(title: string, keys: Key[]): void {
  const now = useRef(keys);
  now.current = keys;
  useEffect(() => {
    const layer = { title, keys: () => now.current };
    layers.push(layer);
    return () => void layers.splice(layers.indexOf(layer), 1);
  }, [title]);
}

/** Listens for keys, and shows them all on `?`. */
export function KeyHelp() {
  const [open, setOpen] = useState(false);
  useEffect(() => {
    window.addEventListener('keydown', pressed);
    return () => window.removeEventListener('keydown', pressed);
  }, []);
  useKeys('Everywhere', [{ keys: '?', word: 'Show these keys', run: () => setOpen(true) }]);
  const titles = [...new Set(layers.map((layer) => layer.title))];
  return (
    <Modal open={open} onClose={() => setOpen(false)} title="Keys" wide>
      <div className="keys">
        {open &&
          titles.map((title) => (
            <section key={title}>
              <h3>{title}</h3>
              <dl>
                {layers
                  .filter((layer) => layer.title === title)
                  .flatMap((layer) => layer.keys())
                  // One that a later layer has taken means what it means there.
                  .filter((key) => !key.hidden && find(key.keys) === key)
                  .map((key) => (
                    <div key={key.keys}>
                      <dt>
                        {key.keys.split(' ').map((each) => (
                          <kbd key={each}>{each.replace('ArrowRight', '→').replace('ArrowLeft', '←')}</kbd>
                        ))}
                      </dt>
                      <dd>{key.word}</dd>
                    </div>
                  ))}
              </dl>
            </section>
          ))}
      </div>
    </Modal>
  );
}
