import { count } from '../words/money';

/** What goes into the commit: "3 changes and 1 suggestion". */
export function goesIn(changes: number, suggestions: number): string {
  const parts = [...(changes || !suggestions ? [count(changes, 'change')] : []), ...(suggestions ? [count(suggestions, 'suggestion')] : [])];
  return parts.join(' and ');
}

/** What became the commit. Of suggestions the server keeps no count: later nobody knows how many they were. */
export function isCommit(changes: number, suggestions: number | undefined): string {
  if (suggestions === undefined) return changes ? `${count(changes, 'change')} ${changes === 1 ? 'is' : 'are'}` : 'What was accepted is';
  return `${goesIn(changes, suggestions)} ${changes + suggestions === 1 ? 'is' : 'are'}`;
}
