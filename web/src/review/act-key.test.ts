import { describe, expect, test } from 'vitest';
import { Refusal } from '../api/client';
import { withActKey } from './act-key';
import { Drafts } from './drafts';

/** The keys that a server was sent, whose answers are these. */
async function keysFor(answers: (number | 'done')[]): Promise<string[]> {
  const kept = new Map<string, string>();
  const shelf = { length: 0, key: () => null, getItem: (name: string) => kept.get(name) ?? null, setItem: (name: string, text: string) => void kept.set(name, text), removeItem: (name: string) => void kept.delete(name) };
  const keys: string[] = [];
  for (const answer of answers) {
    const sent = withActKey(new Drafts(shelf, 'r/'), 'apply', async (headers) => {
      keys.push(headers['Idempotency-Key']!);
      if (answer !== 'done') throw new Refusal(answer, 'internal', 'no');
    });
    await sent.catch(() => {});
  }
  return keys;
}

describe('the key of an act', () => {
  test('is the same, also after a reload, until it was answered', async () => {
    const [first, second, third, fourth, after] = await keysFor([0, 503, 409, 'done', 'done']);
    expect([second, third, fourth]).toEqual([first, first, first]);
    expect(after).not.toBe(first);
  });
  test('is a new one after the act was refused', async () => expect(new Set(await keysFor([412, 'done'])).size).toBe(2));
});
