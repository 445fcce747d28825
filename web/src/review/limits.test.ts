import { expect, test } from 'vitest';
import { tooLong } from './limits';

test('what counts is bytes, not characters', () => {
  expect(['a'.repeat(4096), 'ü'.repeat(2048), '€'.repeat(1365), '🙂'.repeat(1024)].map((text) => tooLong(text, 'reason'))).toEqual([undefined, undefined, undefined, undefined]);
  expect(tooLong('ü'.repeat(2048) + 'a', 'reason')).toBe('1 byte too long: at most 4 KiB');
  expect(tooLong('ü'.repeat(4096), 'reason')).toBe('4,096 bytes too long: at most 4 KiB');
});
