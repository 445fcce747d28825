import { describe, expect, test } from 'vitest';
import { Refusal } from '../api/client';
import type { Review } from '../api/types';
import type { Edit } from './edit';
import { apart, refusedWords, textsOf, without } from './refused';

const verdict = (reason: string | null) => ({ verdict: 'reject' as const, reason });
const edit: Edit = { verdicts: new Map([['a', verdict('x')], ['b', verdict(null)]]), suggestions: new Map([['c', true]]), viewed: new Map([['f', { viewed: true }]]), summary: 'Words' }; // prettier-ignore
const refusal = (field?: string, status = 400) => new Refusal(status, 'bad_input', 'no', field);

describe('a refused edit', () => {
  test.each([
    ['verdicts[1].hunk_id', { verdicts: new Map([['b', verdict(null)]]) }],
    ['suggestions[0].comment', { suggestions: new Map([['c', true]]) }],
    ['viewed[0].path', { viewed: new Map([['f', { viewed: true }]]) }],
    ['summary', { summary: 'Words' }],
  ])('is taken apart at %s', (field, part) => {
    const { refused, rest } = apart(edit, refusal(field));
    expect([refused, rest.length]).toEqual([part, 1]);
    expect(rest[0]).not.toMatchObject(part);
  });
  test('is halved when nothing is named, or what is not in it', () => {
    for (const field of [undefined, 'verdicts', 'verdicts[7].reason', 'If-Match']) expect(apart(edit, refusal(field))).toMatchObject({ refused: {}, rest: [{}, {}] });
    expect(apart(edit, refusal(undefined), true)).toEqual({ refused: edit, rest: [] });
  });
  test('of one thing is refused itself', () => expect(apart({ summary: 'x' }, refusal())).toEqual({ refused: { summary: 'x' }, rest: [] }));
});

test('what is decided anew is not refused any more', () => expect(without(edit, { verdicts: new Map([['a', verdict(null)]]), summary: '' })).toMatchObject({ verdicts: new Map([['b', verdict(null)]]), summary: undefined }));
test('texts have the place where they were typed', () => expect(textsOf(edit)).toEqual([['reason:a', 'x'], ['summary', 'Words']])); // prettier-ignore
test('is told in words', () => expect(refusedWords(edit, { hunks: [{ hunk_id: 'a', path: 'x.py' }], comments: [] } as unknown as Review)).toBe('2 verdicts on x.py; 1 suggestion; 1 mark of a viewed file; the words about the whole'));
