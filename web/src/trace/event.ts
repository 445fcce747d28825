import type { TraceEvent } from '../api/types';

/** A text as a trace holds it: whole, or its beginning and end with the id of the blob that holds all of it. */
export type Payload = { text?: string; head?: string; tail?: string; bytes?: number; blob?: string };

const isPayload = (value: unknown): value is Payload => typeof value === 'object' && value !== null && ('text' in value || 'blob' in value);

export function payload(event: TraceEvent, key: string): Payload | undefined {
  const value = event.data[key];
  if (typeof value === 'string') return { text: value };
  if (!isPayload(value)) return undefined;
  return value.text === '' ? undefined : value;
}

/** What of a payload is at hand, in one line of text. */
export const shownText = (value: Payload | undefined): string => (value ? (value.text ?? `${value.head ?? ''}\n…\n${value.tail ?? ''}`) : '');

export const text = (event: TraceEvent, key: string): string => {
  const value = event.data[key];
  return typeof value === 'string' ? value : '';
};
export const number = (event: TraceEvent, key: string): number | undefined => {
  const value = event.data[key];
  return typeof value === 'number' ? value : undefined;
};
export const texts = (event: TraceEvent, key: string): string[] => {
  const value = event.data[key];
  return Array.isArray(value) ? value.filter((item): item is string => typeof item === 'string') : [];
};
