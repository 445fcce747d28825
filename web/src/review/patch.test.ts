import { describe, expect, test } from 'vitest';
import { filePatches, pathOf, unquote } from './patch';

const diff = [
  'diff --git a/a.txt b/a.txt', '--- a/a.txt', '+++ b/a.txt', '@@ -1 +1 @@', '-one', '+diff --git a/x b/x', '@@ -9 +9 @@', '-x', '+y',
  'diff --git a/old b/old', 'deleted file mode 100644', '--- a/old', '+++ /dev/null', '@@ -1 +0,0 @@', '--- a/fake',
  'diff --git a/a b/b c', 'similarity index 100%', 'rename from a', 'rename to b c',
  'diff --git a/p.png b/p.png', 'GIT binary patch', 'delta 8', 'zc$}', '',
].join('\n'); // prettier-ignore

describe('a diff', () => {
  test('is cut into its files, however its lines look', () => expect(filePatches(diff).map((file) => file.hunks)).toEqual([2, 1, 0, 0]));
  test('tells the names of its files', () => expect(filePatches(diff).map(pathOf)).toEqual(['a.txt', 'old', 'b c', 'p.png']));
  test('loses nothing', () => expect(filePatches(diff).map((file) => file.text).join('')).toBe(diff));
});

test('names that git had to quote are read', () => expect(unquote('"\\303\\244 \\"x\\""')).toBe('ä "x"'));
