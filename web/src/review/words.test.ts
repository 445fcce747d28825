import { describe, expect, test } from 'vitest';
import type { ReviewFile } from '../api/types';
import { kindWords, wholeWords } from './words';

const file = (change: ReviewFile['change'], old_mode: string | null, new_mode: string | null, more: Partial<ReviewFile> = {}) =>
  ({ path: 'b', old_path: 'a', change, old_mode, new_mode, binary: false, ...more }) as ReviewFile;

describe('what a change of a whole file is', () => {
  test.each([
    [file('added', null, '100644'), 'New file', undefined],
    [file('added', null, '100755'), 'New executable file', 'executable'],
    [file('added', null, '120000'), 'New symbolic link', 'symbolic link'],
    [file('added', null, '160000'), 'New submodule', 'submodule'],
    [file('deleted', '120000', null), 'Deleted symbolic link', 'symbolic link'],
    [file('retyped', '100644', '120000'), 'File becomes a symbolic link', 'file becomes a symbolic link'],
    [file('retyped', '120000', '100755'), 'Symbolic link becomes an executable file', 'symbolic link becomes an executable file'],
    [file('modified', '100644', '100755'), 'Becomes executable', 'becomes executable'],
    [file('modified', '100755', '100644'), 'No longer executable', 'no longer executable'],
    [file('modified', '100644', '100755', { binary: true }), 'Changed content, becomes executable', 'becomes executable'],
    [file('renamed', '100644', '100755'), 'Renamed from a, becomes executable', 'becomes executable'],
    [file('modified', '120000', '120000'), 'Symbolic link to another target', 'symbolic link'],
    [file('modified', '100755', '100755'), 'The file as a whole', undefined],
    [file('modified', '100644', '100644', { binary: true }), 'Changed content', undefined],
  ])('%#', (of, whole, kind) => expect([wholeWords(of), kindWords(of)]).toEqual([whole, kind]));
});
