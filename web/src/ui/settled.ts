import { useEffect, useState } from 'react';

/** The value once it has stood still for so long: what is typed is not asked about letter by letter. */
export function useSettled<T>(value: T, ms: number): T {
  const [settled, setSettled] = useState(value);
  useEffect(() => {
    const later = setTimeout(() => setSettled(value), ms);
    return () => clearTimeout(later);
  }, [value, ms]);
  return settled;
}
