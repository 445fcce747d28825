import { describe, expect, test } from 'vitest';
import { diffRows } from './diff';

const files = (diff: string) => diffRows(diff).filter((row) => row.type === 'file');
const body = (diff: string) => diffRows(diff).flatMap((row) => (row.type === 'line' ? [`${row.old ?? ''}/${row.new ?? ''}${row.sign}${row.text}`] : []));

const change = ['diff --git a/a.txt b/a.txt', 'index 1..2 100644', '--- a/a.txt', '+++ b/a.txt', '@@ -2,3 +2,4 @@ fn', ' one', '-two', '+TWO', '+more', ' three', ''].join('\n');

describe('a diff', () => {
  test('numbers the lines of both sides', () => expect(body(change)).toEqual(['2/2 one', '3/-two', '/3+TWO', '/4+more', '4/5 three']));
  test('counts what each file gains and loses', () => expect(files(change)).toMatchObject([{ path: 'a.txt', insertions: 2, deletions: 1 }]));
  test('takes a removed line that looks like a head for a line', () => {
    const diff = ['diff --git a/q.sql b/q.sql', '--- a/q.sql', '+++ b/q.sql', '@@ -1,2 +1,2 @@', '--- a comment', '+++ b', ' rest', ''].join('\n');
    expect(files(diff)).toMatchObject([{ path: 'q.sql', insertions: 1, deletions: 1 }]);
    expect(body(diff)).toEqual(['1/--- a comment', '/1+++ b', '2/2 rest']);
  });
  test('says what else happened to a file', () => {
    const diff = [
      'diff --git a/new b/new', 'new file mode 100644', '--- /dev/null', '+++ b/new', '@@ -0,0 +1 @@', '+x',
      'diff --git a/old b/old', 'deleted file mode 100644', '--- a/old', '+++ /dev/null', '@@ -1 +0,0 @@', '-x',
      'diff --git a/a b/b', 'similarity index 100%', 'rename from a', 'rename to b',
      'diff --git a/p.png b/p.png', 'new file mode 100644', 'Binary files /dev/null and b/p.png differ', '',
    ].join('\n'); // prettier-ignore
    expect(files(diff).map((file) => file.type === 'file' && `${file.path}: ${file.note}`)).toEqual(['new: new', 'old: deleted', 'b: renamed from a', 'p.png: new, binary']);
  });
  test('reads names that git had to quote', () => {
    expect(files('diff --git "a/\\303\\244 \\"x\\"" "b/\\303\\244 \\"x\\""\n--- "a/\\303\\244 \\"x\\""\n+++ "b/\\303\\244 \\"x\\""\n')).toMatchObject([{ path: 'ä "x"' }]);
  });
  test('keeps the remark about a missing last newline', () => {
    expect(body('diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1 +1 @@\n-x\n\\ No newline at end of file\n+x\n')).toEqual(['1/-x', '/\\No newline at end of file', '/1+x']);
  });
});
