import { expect, test } from 'vitest';
import type { Review, ReviewHunk } from '../api/types';
import { hunksByFile, nextUndecided, stepped, steppedFile, tally } from './order';

const hunk = (hunk_id: string, verdict: ReviewHunk['verdict'] = null, path = 'a') => ({ hunk_id, verdict, path }) as ReviewHunk;
const hunks = [hunk('1', 'accept'), hunk('2'), hunk('3', 'reject'), hunk('4')];

test('hunks are listed by file, also where a file has none', () => {
  const review = { files: [{ path: 'a' }, { path: 'b' }], hunks: [hunk('1'), hunk('2')] } as unknown as Review;
  expect([...hunksByFile(review)].map(([path, list]) => [path, list.length])).toEqual([['a', 2], ['b', 0]]); // prettier-ignore
});
test('files whose names look the same are told apart', () => {
  const named = (path_base64: string) => ({ path: 's\ufffd', path_base64 });
  const review = { files: [named('c/8='), named('c/4=')], hunks: [{ ...hunk('1'), ...named('c/4=') }] } as unknown as Review;
  expect([...hunksByFile(review).values()].map((list) => list.length)).toEqual([0, 1]);
});
test('a step stops at the ends', () => expect([stepped(hunks, '4', 1), stepped(hunks, '1', -1), stepped(hunks, undefined, 1), stepped([], 'x', 1)].map((each) => each?.hunk_id)).toEqual(['4', '1', '1', undefined]));
test('the next undecided one is looked for to the end, then from the top', () => expect([undefined, '2', '4'].map((at) => nextUndecided(hunks, at)?.hunk_id)).toEqual(['2', '4', '2']));
test('there is no next one when all are decided but this', () => expect(nextUndecided([hunk('1', 'accept'), hunk('2')], '2')).toBeUndefined());
test('files are stepped through', () => expect([steppedFile(['a', 'b'], 'a', 1), steppedFile(['a', 'b'], 'b', 1), steppedFile(['a', 'b'], undefined, -1)]).toEqual(['b', 'b', 'b']));
test('decided ones are counted', () => expect(tally(hunks)).toEqual({ decided: 2, rejected: 1, total: 4 }));
