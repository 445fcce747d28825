import { keyOfBytes } from './paths';

export type HunkLines = { old_start: number; old_lines: number; new_start: number; new_lines: number };

/** `text`: the hunk with its head. */
export type HunkPatch = HunkLines & { text: string; insertions: number; deletions: number };

/** One file's part of a unified diff. */
export type FilePatch = {
  text: string;
  /** What stands before its hunks. */
  head: string;
  hunks: HunkPatch[];
  /** False when something in it is neither head nor one of the lines that the hunks' heads count: what it shows is not to be trusted. */
  sound: boolean;
};

const file_start = 'diff --git ';
const hunk_head = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/;

/** Walks over the lines of a diff. Line feeds alone end lines here, as for git: a file may hold any other character that ends lines elsewhere. */
class Lines {
  at = 0;
  constructor(readonly diff: string) {}

  get ended(): boolean {
    return this.at >= this.diff.length;
  }
  starts(word: string): boolean {
    return this.diff.startsWith(word, this.at);
  }
  /** The line here, without going on. */
  line(): string {
    return this.diff.slice(this.at, this.end());
  }
  next(): void {
    this.at = this.end() + 1;
  }
  private end(): number {
    const found = this.diff.indexOf('\n', this.at);
    return found < 0 ? this.diff.length : found;
  }
}

/** Cuts the diff of the server into its files, in their order. Bodies go by the counts of their heads, so that no line of theirs is taken for a head. */
export function filePatches(diff: string): FilePatch[] {
  const lines = new Lines(diff);
  const files: FilePatch[] = [];
  while (!lines.ended) files.push(filePatch(lines));
  return files;
}

function filePatch(lines: Lines): FilePatch {
  const start = lines.at;
  let sound = lines.starts(file_start);
  do lines.next();
  while (!lines.ended && !lines.starts(file_start) && !lines.starts('@@ '));
  const head = lines.diff.slice(start, lines.at);
  const hunks: HunkPatch[] = [];
  while (!lines.ended && !lines.starts(file_start)) {
    const hunk = lines.starts('@@ ') ? hunkPatch(lines) : undefined;
    if (hunk) hunks.push(hunk);
    else (lines.next(), (sound = false));
  }
  return { text: lines.diff.slice(start, lines.at), head, hunks, sound };
}

/** Nothing when the lines are others than the head says. */
function hunkPatch(lines: Lines): HunkPatch | undefined {
  const start = lines.at;
  const numbers = hunk_head.exec(lines.line());
  if (!numbers) return undefined;
  const [old_start, old_lines, new_start, new_lines] = numbers.slice(1).map((digits: string | undefined) => Number(digits ?? 1)) as [number, number, number, number];
  let [old_left, new_left, insertions, deletions] = [old_lines, new_lines, 0, 0];
  lines.next();
  while (!lines.ended && (old_left > 0 || new_left > 0 || lines.starts('\\'))) {
    if (lines.starts(' ')) (--old_left, --new_left);
    else if (lines.starts('-')) (--old_left, ++deletions);
    else if (lines.starts('+')) (--new_left, ++insertions);
    else if (!lines.starts('\\')) return undefined;
    lines.next();
  }
  if (old_left !== 0 || new_left !== 0) return undefined;
  return { old_start, old_lines, new_start, new_lines, text: lines.diff.slice(start, lines.at), insertions, deletions };
}

/** The words of the head's line that begins so. */
export function headLine({ head }: Pick<FilePatch, 'head'>, start: string): string | undefined {
  return head
    .split('\n')
    .find((line) => line.startsWith(start))
    ?.slice(start.length);
}

/** The key of the name that a file has after the change (paths.ts), where nothing else tells it: the diff between two runs comes without a list of files. */
export function pathOf(patch: FilePatch): string {
  const renamed = headLine(patch, 'rename to ');
  if (renamed !== undefined) return unquote(renamed);
  const side = [headLine(patch, '+++ '), headLine(patch, '--- ')].find((name) => name !== undefined && name !== '/dev/null');
  const named = side?.replace(/\t$/, '') ?? secondOf(headLine(patch, file_start) ?? '');
  return unquote(named.replace(/^("?)[ab]\//, '$1'));
}

/** Where the first line alone names the file, it does so twice in the same length. */
const secondOf = (names: string) => names.slice((names.length + 1) / 2);

/** Undoes git's quoting of odd names: "a\303\244" > aä. */
export function unquote(name: string): string {
  if (!name.startsWith('"')) return name;
  const bytes: number[] = [];
  const inner = name.slice(1, -1);
  const letters: Record<string, number> = { a: 7, b: 8, t: 9, n: 10, v: 11, f: 12, r: 13, '"': 34, '\\': 92 };
  for (let i = 0; i < inner.length; ++i) {
    const character = String.fromCodePoint(inner.codePointAt(i)!);
    if (character !== '\\') (bytes.push(...new TextEncoder().encode(character)), (i += character.length - 1));
    else if (/^[0-7]{3}/.test(inner.slice(i + 1, i + 4))) (bytes.push(parseInt(inner.slice(i + 1, i + 4), 8)), (i += 3));
    else bytes.push(letters[inner[++i] ?? ''] ?? 63);
  }
  return keyOfBytes(new Uint8Array(bytes));
}
