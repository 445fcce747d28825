/** A line of a unified diff as a row. */
export type DiffRow =
  | { type: 'file'; path: string; note: string; insertions: number; deletions: number }
  | { type: 'hunk'; text: string }
  | { type: 'line'; sign: ' ' | '+' | '-' | '\\'; text: string; old?: number; new?: number };

const heads = /^(index |old mode|new mode|deleted file|new file|similarity|dissimilarity|rename |copy |Binary files|GIT binary patch|--- |\+\+\+ )/;

/** Undoes git's quoting of odd names: "a\303\244" > aä. */
function unquote(name: string): string {
  if (!name.startsWith('"')) return name;
  const bytes: number[] = [];
  const inner = name.slice(1, -1);
  const letters: Record<string, number> = { n: 10, t: 9, r: 13, '"': 34, '\\': 92 };
  for (let i = 0; i < inner.length; ++i) {
    if (inner[i] !== '\\') bytes.push(...new TextEncoder().encode(inner[i]));
    else if (/^[0-7]{3}/.test(inner.slice(i + 1))) (bytes.push(parseInt(inner.slice(i + 1, i + 4), 8)), (i += 3));
    else bytes.push(letters[inner[++i] ?? ''] ?? 63);
  }
  return new TextDecoder().decode(new Uint8Array(bytes));
}

const bare = (name: string) => unquote(name.trimEnd()).replace(/^[ab]\//, '');

type FileRow = Extract<DiffRow, { type: 'file' }>;

function readHead(line: string, file: FileRow): void {
  if (line.startsWith('new file')) file.note = 'new';
  else if (line.startsWith('deleted file')) file.note = 'deleted';
  else if (line.startsWith('rename from ')) file.note = `renamed from ${unquote(line.slice(12))}`;
  else if (line.startsWith('new mode')) file.note = `mode ${line.slice(9)}`;
  else if (line.startsWith('Binary files') || line.startsWith('GIT binary')) file.note = file.note ? `${file.note}, binary` : 'binary';
  else if (line.startsWith('+++ ') && !line.startsWith('+++ /dev/null')) file.path = bare(line.slice(4));
  else if (line.startsWith('--- ') && !line.startsWith('--- /dev/null') && !file.path) file.path = bare(line.slice(4));
  else if (line.startsWith('rename to ')) file.path = unquote(line.slice(10));
}

/** Reads the diff that the server makes (3 lines of context). Lines of a hunk are counted, so that "--- x" inside one is a removed line. */
export function diffRows(diff: string): DiffRow[] {
  const rows: DiffRow[] = [];
  let file: FileRow | undefined;
  let [left_old, left_new, old, now] = [0, 0, 0, 0];
  for (const line of diff.split('\n')) {
    const hunk = left_old + left_new > 0 ? null : /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (left_old + left_new > 0 && /^[ +-]/.test(line)) {
      const sign = line[0] as ' ' | '+' | '-';
      rows.push({ type: 'line', sign, text: line.slice(1), old: sign === '+' ? undefined : old, new: sign === '-' ? undefined : now });
      if (sign !== '+') (--left_old, ++old);
      if (sign !== '-') (--left_new, ++now);
      if (file && sign === '+') ++file.insertions;
      if (file && sign === '-') ++file.deletions;
    } else if (hunk) {
      [old, left_old, now, left_new] = [Number(hunk[1]), Number(hunk[2] ?? 1), Number(hunk[3]), Number(hunk[4] ?? 1)];
      rows.push({ type: 'hunk', text: line });
    } else if (line.startsWith('diff --git ')) {
      [left_old, left_new] = [0, 0];
      const name = / "?b\/(.*)$/.exec(line)?.[1]?.replace(/"$/, '') ?? '';
      file = { type: 'file', path: '', note: '', insertions: 0, deletions: 0 };
      file.path = name;
      rows.push(file);
    } else if (line.startsWith('\\')) {
      rows.push({ type: 'line', sign: '\\', text: line.slice(2) });
    } else if (file && heads.test(line)) {
      readHead(line, file);
    }
  }
  return rows;
}
