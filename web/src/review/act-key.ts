import { useRef } from 'react';
import { requestKey } from '../pages/job-form';

/** The key of one act: the same one when it is tried again, a new one after it was done. */
export function useActKey(): { key: () => string; done: () => void } {
  const kept = useRef<string>(undefined);
  return { key: () => (kept.current ??= requestKey()), done: () => (kept.current = undefined) };
}
