import type { FileDiffMetadata } from '@pierre/diffs';
import { describe, expect, test } from 'vitest';
import type { ReviewComment, ReviewFile, ReviewHunk } from '../api/types';
import { ItemList, SpotMemory, spotsOf, type Standing } from './items';
import type { ShownFile } from './shown-file';

const part = { additionStart: 10, additionCount: 4, deletionStart: 10, deletionCount: 3, hunkContent: [{ type: 'context', lines: 3 }] };
const shown = { path: 'a.py', diff: { hunks: [part] } as unknown as FileDiffMetadata, marks: [], unsafe: false, insertions: 1, deletions: 0 } as ShownFile;
const bare = { ...shown, diff: { hunks: [] } as unknown as FileDiffMetadata };
const file = (change: Partial<ReviewFile>) => ({ path: 'a.py', old_path: 'a.py', change: 'modified', binary: false, ...change }) as ReviewFile;
const hunk = (change: Partial<ReviewHunk>) => ({ hunk_id: 'h', kind: 'text', new_start: 10, old_start: 10, ...change }) as ReviewHunk;
const comment = (change: Partial<ReviewComment>) => ({ id: 'c', side: 'head', start_line: 11, end_line: 12, stale: false, ...change }) as ReviewComment;

const places = (of: ShownFile, standing: Partial<Standing>) =>
  spotsOf(of, { hunks: [], comments: [], editors: [], ...standing }).map(({ side, lineNumber, metadata: { spot } }) => `${spot.kind} ${side} ${lineNumber}`);

describe('what stands between the lines', () => {
  test('the controls of a hunk stand below its last line', () => expect(places(shown, { hunks: [hunk({})] })).toEqual(['hunk additions 13']));
  test('those of a whole file stand above its lines, on the side that there is', () => {
    expect(places(shown, { file: file({ change: 'added' }), hunks: [hunk({ kind: 'file', new_start: 0 })] })).toEqual(['hunk additions 0']);
    expect(places(shown, { file: file({ change: 'deleted' }), hunks: [hunk({ kind: 'file', new_start: 0 })] })).toEqual(['hunk deletions 0']);
  });
  test('of what cannot be shown safely is said so', () => expect(places({ ...bare, unsafe: true }, { file: file({ change: 'added' }) })).toEqual(['unsafe additions 0']));
  test('a comment stands below its lines, and above the file when they are not there', () => {
    expect(places(shown, { comments: [comment({}), comment({ end_line: 14 }), comment({ stale: true })] })).toEqual(['comment additions 12', 'comment additions 0', 'comment additions 0']);
  });
  test('one that is being written stands where it will be', () => expect(places(shown, { editors: ['comment:base:11-11:a.py'] })).toEqual(['editor deletions 11']));
  test('a picture is shown, and other bytes are said to be none', () => {
    expect(places(bare, { file: file({ binary: true, path: 'a.PNG' }) })).toEqual(['picture additions 0']);
    expect(places(bare, { file: file({ binary: true }) })).toEqual(['remark additions 0']);
  });
});

test('what did not change stays the same item, and what did gets a new version', () => {
  const list = new ItemList();
  const first = list.next([{ shown, spots: [], folded: false }, { shown: { ...bare, path: 'b' }, spots: [], folded: false }]); // prettier-ignore
  const next = list.next([{ shown, spots: [], folded: true }, { shown: { ...bare, path: 'b' }, spots: [], folded: false }]); // prettier-ignore
  expect([next[0] === first[0], next[1] === first[1], next[0]?.version, next[0]?.collapsed]).toEqual([false, true, 2, true]);
});

test('where things stand is worked out again only when one came, went or moved', () => {
  const memory = new SpotMemory();
  const spots = (standing: Partial<Standing>) => memory.of(shown, { file: file({}), hunks: [hunk({})], comments: [comment({})], editors: [], ...standing });
  const first = spots({});
  // A verdict, another body: the server answers with new objects for all.
  expect(spots({ hunks: [hunk({ verdict: 'accept' })], comments: [comment({ body: 'Ah' })] })).toBe(first);
  const changed = [{ hunks: [] }, { comments: [comment({ stale: true })] }, { editors: ['comment:base:11-11:a.py' as const] }, { file: file({ binary: true }) }];
  for (const change of changed) {
    expect(spots(change)).not.toBe(first);
    expect(spots(change)).toBe(spots(change));
  }
});
