import { expect, test } from 'vitest';
import { keyOf, keyOfBytes, namedBy, nameOf } from './paths';

const odd = (bytes: string) => ({ path: 'same\ufffd.txt', path_base64: btoa(bytes) });
const [first, second] = [odd('same\xff.txt'), odd('same\xfe.txt')];

test('names that differ in bytes that are not UTF-8 only are two', () => {
  expect(keyOf(first)).not.toBe(keyOf(second));
  expect([nameOf(keyOf(first)), nameOf(keyOf(second)), nameOf(keyOf(odd('d\xc3\xa4/\xc3')))]).toEqual(['same\\xff.txt', 'same\\xfe.txt', 'dä/\\xc3']);
});
test('a key says how a request names the file', () => {
  expect(namedBy(keyOf(first))).toEqual({ path_base64: first?.path_base64 });
  expect(namedBy(keyOf({ path: 'ä' }))).toEqual({ path: 'ä' });
});
test('bytes have the key of their name', () => {
  expect(keyOfBytes(new TextEncoder().encode('\ufeffä'))).toBe('\ufeffä');
  expect(keyOfBytes(Uint8Array.from([0x73, 0xff]))).toBe(keyOf({ path: 's\ufffd', path_base64: btoa('s\xff') }));
});
test('what cannot be seen in a name is marked', () => expect(nameOf('a\u202egpj.exe\r')).toBe('a⟨U+202E⟩gpj.exe⟨U+000D⟩'));
