import { describe, expect, test } from 'vitest';
import { filePatches, pathOf, unquote } from './patch';

const diff = [
  'diff --git a/a.txt b/a.txt', '--- a/a.txt', '+++ b/a.txt', '@@ -1 +1 @@', '-one', '+diff --git a/x b/x', '@@ -9 +9 @@', '-x', '+y',
  'diff --git a/old b/old', 'deleted file mode 100644', '--- a/old', '+++ /dev/null', '@@ -1 +0,0 @@', '--- a/fake',
  'diff --git a/a b/b c', 'similarity index 100%', 'rename from a', 'rename to b c',
  'diff --git a/p.png b/p.png', 'GIT binary patch', 'delta 8', 'zc$}', '',
].join('\n'); // prettier-ignore

describe('a diff', () => {
  test('is cut into its files, however its lines look', () => expect(filePatches(diff).map((file) => [file.hunks.length, file.sound])).toEqual([[2, true], [1, true], [0, true], [0, true]]));
  test('tells the names of its files', () => expect(filePatches(diff).map(pathOf)).toEqual(['a.txt', 'old', 'b c', 'p.png']));
  test('loses nothing', () => expect(filePatches(diff).map((file) => file.text).join('')).toBe(diff));
});

test('names that git had to quote are read', () => expect(unquote('"\\303\\244 \\"x\\""')).toBe('ä "x"'));

describe('characters that end lines elsewhere', () => {
  const hidden = (odd: string) => `diff --git a/n.py b/n.py\n--- a/n.py\n+++ b/n.py\n@@ -1 +1,3 @@\n-x\n+# note${odd}diff --git a/README.md b/README.md${odd}@@ -1 +1 @@${odd}+fine\n+evil\n+x\n`;
  test.each(['\r', '\u2028', '\u2029', '\u0085', '\v', '\f'])('%j ends none here', (odd) => {
    const [file, ...more] = filePatches(hidden(odd));
    expect([more.length, file?.sound, file?.hunks.length, file?.hunks[0]?.insertions]).toEqual([0, true, 1, 3]);
  });
  test('CRLF is a line like any other', () => {
    const [file] = filePatches('diff --git a/n b/n\n--- a/n\n+++ b/n\n@@ -1,2 +1,2 @@\n-a\r\n+b\r\n c\r\n');
    expect([file?.sound, file?.hunks[0]?.insertions, file?.hunks[0]?.deletions]).toEqual([true, 1, 1]);
  });
});

describe('what does not fit', () => {
  const sound = (body: string) => filePatches(`diff --git a/n b/n\n--- a/n\n+++ b/n\n${body}`).map((file) => file.sound);
  test('lines more or fewer than their head counts', () => {
    expect(sound('@@ -1 +1 @@\n-a\n+b\n')).toEqual([true]);
    expect(sound('@@ -1 +1 @@\n-a\n+b\n+c\n')).toEqual([false]);
    expect(sound('@@ -1 +1,2 @@\n-a\n+b\n')).toEqual([false]);
    expect(sound('@@ -1,2 +1 @@\n-a\n+b\n@@ -9 +9 @@\n-x\n+y\n')).toEqual([false]);
  });
  test('text before the first file', () => expect(filePatches('evil\ndiff --git a/n b/n\n').map((file) => file.sound)).toEqual([false, true]));
});

test('names are read however git wrote them', () => {
  const named = (...lines: string[]) => filePatches([...lines, ''].join('\n')).map(pathOf);
  expect(named('diff --git a/x b/y b/x b/y', 'old mode 100644', 'new mode 100755')).toEqual(['x b/y']);
  expect(named('diff --git "a/\\342\\200\\250" "b/\\342\\200\\250"', 'deleted file mode 100644')).toEqual(['\u2028']);
  expect(named('diff --git "a/s\\377" "b/s\\377"', '--- "a/s\\377"', '+++ "b/s\\377"')).toEqual([`/${btoa('s\xff')}`]);
  expect(named('diff --git a/a b/a ', '--- a/a \t', '+++ b/a \t')).toEqual(['a ']);
});
