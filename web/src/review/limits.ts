// How long texts may be. The server counts bytes: an umlaut is two, a picture character four.
import { bytes, count } from '../words/money';

export const limits = { reason: 4 << 10, summary: 64 << 10, comment: 64 << 10, message: 64 << 10, note: 32 << 10 } as const;

const encoder = new TextEncoder();

/** In words what is too long about it; nothing when it fits. */
export function tooLong(text: string, limit: keyof typeof limits): string | undefined {
  const most = limits[limit];
  // A character is at most three bytes for each of its units: most texts need no counting.
  if (text.length * 3 <= most) return undefined;
  const over = encoder.encode(text).length - most;
  return over > 0 ? `${count(over, 'byte')} too long: at most ${bytes(most)}` : undefined;
}
