import { expect, test } from 'vitest';
import { patchStats } from './patch-stats';

test('what a patch adds and removes is counted by file', () => {
  const patch = [
    'diff --git a/a b/a', '--- a/a', '+++ b/a', '@@ -1,2 +1 @@', ' x', '--- y', '@@ -9 +8 @@', '-a', '+b',
    'diff --git a/new b/new', 'new file mode 100644', '--- /dev/null', '+++ b/new', '@@ -0,0 +1 @@', '+++ z',
    'diff --git a/p b/q', 'similarity index 100%', 'rename from p', 'rename to q', '',
  ].join('\n'); // prettier-ignore
  expect(patchStats(patch).map(({ insertions, deletions, word }) => [insertions, deletions, word])).toEqual([[1, 2, ''], [1, 0, 'new'], [0, 0, 'renamed']]); // prettier-ignore
});
