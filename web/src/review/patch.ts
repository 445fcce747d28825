/** One file's part of a unified diff. */
export type FilePatch = { text: string; hunks: number };

/** Cuts the diff of the server into its files, in their order. Lines of a body begin with a sign, so that none of them is taken for a head. */
export function filePatches(diff: string): FilePatch[] {
  const starts = [...diff.matchAll(/^diff --git /gm)].map((match) => match.index);
  return starts.map((start, i) => {
    const text = diff.slice(start, starts[i + 1]);
    return { text, hunks: text.match(/^@@ /gm)?.length ?? 0 };
  });
}

/** The name that a file has after the change, where nothing else tells it: the diff between two runs comes without a list of files. */
export function pathOf(patch: FilePatch): string {
  const line = (start: string) => new RegExp(`^${start}(.*)$`, 'm').exec(headOf(patch))?.[1];
  const named = line('rename to ') ?? strip(line('\\+\\+\\+ ')) ?? strip(line('--- '));
  return unquote(named ?? / (b\/.*|"b\/.*")$/m.exec(patch.text)?.[1]?.replace(/^("?)b\//, '$1') ?? '');
}

const headOf = (patch: FilePatch) => patch.text.slice(0, patch.text.search(/^@@ /m) + 1 || undefined);

const strip = (name: string | undefined) => (name === undefined || name.startsWith('/dev/null') ? undefined : name.trimEnd().replace(/^("?)[ab]\//, '$1'));

/** Undoes git's quoting of odd names: "a\303\244" > aä. */
export function unquote(name: string): string {
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
