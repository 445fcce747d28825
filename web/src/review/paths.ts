// Names of files. They are bytes: two of them that are not UTF-8 may look the same once these are replaced.
import { visibleName } from './visible';

type Named = { path: string; path_base64?: string };

/** What tells a file from all others: its path; of one that is not UTF-8 a slash, with which no path begins, and its bytes in base64. */
export const keyOf = ({ path, path_base64 }: Named): string => (path_base64 ? `/${path_base64}` : path);

/** The name before the change, to be told by keyOf. */
export const oldOf = ({ old_path, old_path_base64 }: { old_path: string; old_path_base64?: string }): Named => ({ path: old_path, ...(old_path_base64 && { path_base64: old_path_base64 }) });

/** The same for the bytes of a path. */
export function keyOfBytes(bytes: Uint8Array): string {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return `/${btoa(String.fromCharCode(...bytes))}`;
  }
}

/** How a request names the file. */
export const namedBy = (key: string): { path: string } | { path_base64: string } => (key.startsWith('/') ? { path_base64: key.slice(1) } : { path: key });

/** The name to show: what cannot be seen is marked, and a byte that is no UTF-8 is written as `\xff`. */
export function nameOf(key: string): string {
  if (!key.startsWith('/')) return visibleName(key);
  const bytes = Uint8Array.from(atob(key.slice(1)), (character) => character.charCodeAt(0));
  let name = '';
  for (let i = 0; i < bytes.length; ) {
    const character = characterAt(bytes, i);
    name += character?.text ?? `\\x${bytes[i]!.toString(16).padStart(2, '0')}`;
    i += character?.size ?? 1;
  }
  return visibleName(name);
}

function characterAt(bytes: Uint8Array, at: number): { text: string; size: number } | undefined {
  const first = bytes[at]!;
  const size = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes.subarray(at, at + size)), size };
  } catch {
    return undefined;
  }
}
