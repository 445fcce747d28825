import { useState, useSyncExternalStore } from 'react';
import { Link } from 'wouter';
import { Modal } from './dialog';
import { useShelf } from './shelf';

/** In the head of every page: what did not get to the server, whichever page it was done on. */
export function UnsavedSign({ who }: { who: string }) {
  const shelf = useShelf();
  const stuck = useSyncExternalStore(shelf.subscribe, shelf.stuck);
  const [open, setOpen] = useState(false);
  if (!stuck.length) return null;
  return (
    <>
      <button className="ghost unsaved-sign" onClick={() => setOpen(true)}>
        Not saved
      </button>
      <Modal open={open} onClose={() => setOpen(false)} title="Not saved" description="The server did not take this. This window keeps it until it is saved, or discarded.">
        <ul className="unsaved-list">
          {stuck.map(({ name, owner, title, href, shown }) => (
            <li key={name}>
              {owner === who ? (
                <Link href={href} onClick={() => setOpen(false)}>
                  {title}
                </Link>
              ) : (
                <span>
                  {title}, by {owner}
                </span>
              )}
              {!shown && (
                <button className="small" onClick={() => shelf.discard(name)}>
                  Discard
                </button>
              )}
            </li>
          ))}
        </ul>
      </Modal>
    </>
  );
}
