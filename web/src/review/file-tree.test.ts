import { expect, test } from 'vitest';
import { treeRows } from './file-tree';

const paths = ['README.md', 'src/api/deep/a.ts', 'src/b.ts', 'web/src/ui/c.ts'];
const shown = (closed: string[] = [], filter = '') => treeRows(paths, new Set(closed), filter).map((row) => `${'  '.repeat(row.depth)}${row.name}${row.type === 'folder' ? (row.open ? '/' : '+') : ''}`);

test('the order is that of the diff, and a folder that holds only a folder is one row with it', () => {
  expect(shown()).toEqual(['README.md', 'src/', '  api/deep/', '    a.ts', '  b.ts', 'web/src/ui/', '  c.ts']);
});
test('a closed folder hides what it holds', () => expect(shown(['src/'])).toEqual(['README.md', 'src+', 'web/src/ui/', '  c.ts']));
test('a filter finds files in closed folders, and leaves out folders without any', () => expect(shown(['src/'], 'API')).toEqual(['src/api/deep/', '  a.ts']));
