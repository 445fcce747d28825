import { Refusal } from '../api/client';
import { requestKey } from '../pages/job-form';
import type { Drafts } from './drafts';

/** Answers that say for sure that it was not done. Without an answer, or while the server is still at it (409), it may have been. */
const not_done = [400, 403, 404, 412, 413, 422];

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
    if (error instanceof Refusal && not_done.includes(error.status)) drafts.keep(place, '');
    throw error;
  }
}
