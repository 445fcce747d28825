import { useCallback, useRef } from 'react';

/** A function that stays the same one and does what the latest does: rows that get it need not be drawn again. */
export function useLatest<A extends unknown[], R>(latest: (...args: A) => R): (...args: A) => R {
  const now = useRef(latest);
  now.current = latest;
  return useCallback((...args: A) => now.current(...args), []);
}
