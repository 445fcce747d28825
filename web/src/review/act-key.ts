import { Refusal } from '../api/client';
import { requestKey } from '../pages/job-form';
import type { Drafts } from './drafts';

export type Act = 'apply' | 'send-back';

/** Sends an act with its key: the same one, also after a reload, until the server has answered; a new one after that. */
export async function withActKey<T>(drafts: Drafts, act: Act, send: (headers: Record<string, string>) => Promise<T>): Promise<T> {
  const place = `key:${act}`;
  const key = drafts.text(place) || requestKey();
  drafts.keep(place, key);
  try {
    const answer = await send({ 'Idempotency-Key': key });
    drafts.keep(place, '');
    return answer;
  } catch (error) {
    // Without an answer, or when the server broke on the way, it may have been done.
    if (error instanceof Refusal && error.status >= 400 && error.status < 500) drafts.keep(place, '');
    throw error;
  }
}
