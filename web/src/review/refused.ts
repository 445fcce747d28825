// What the server will not take, apart from what it will.
import { Refusal } from '../api/client';
import type { Review } from '../api/types';
import { count } from '../words/money';
import { empty, type Edit } from './edit';

/** Not signed in, too slow, somebody else first, too often: those pass. Everything else that is the request's fault stays. */
const passing = [401, 408, 412, 429];

export const isForGood = (error: unknown): error is Refusal => error instanceof Refusal && error.status >= 400 && error.status < 500 && !passing.includes(error.status);

/** Refused for what is in it, so that a part of it may be taken; 403, 404 and 409 are said about the whole review. */
const about_content = [400, 413, 422];

/** One edit for each thing that was decided, in the order of the request. */
function entriesOf(edit: Edit): Edit[] {
  return [
    ...[...(edit.verdicts ?? [])].map((each) => ({ verdicts: new Map([each]) })),
    ...[...(edit.suggestions ?? [])].map((each) => ({ suggestions: new Map([each]) })),
    ...[...(edit.viewed ?? [])].map((each) => ({ viewed: new Map([each]) })),
    ...(edit.summary !== undefined ? [{ summary: edit.summary }] : []),
    ...(edit.send_drafts ? [{ send_drafts: true as const }] : []),
  ];
}

function together(entries: Edit[]): Edit {
  const all: Edit = {};
  for (const { verdicts, suggestions, viewed, summary, send_drafts } of entries) {
    for (const [id, decision] of verdicts ?? []) (all.verdicts ??= new Map()).set(id, decision);
    for (const [id, accepted] of suggestions ?? []) (all.suggestions ??= new Map()).set(id, accepted);
    for (const [path, mark] of viewed ?? []) (all.viewed ??= new Map()).set(path, mark);
    if (summary !== undefined) all.summary = summary;
    if (send_drafts) all.send_drafts = true;
  }
  return all;
}

/** Where in the list of entries stands what the server names: "verdicts[3].reason". */
function placeOf(edit: Edit, field: string): number | undefined {
  const [, list, n] = /^(verdicts|suggestions|viewed|summary|send_drafts)(?:\[(\d+)\])?/.exec(field) ?? [];
  const sizes = { verdicts: edit.verdicts?.size ?? 0, suggestions: edit.suggestions?.size ?? 0, viewed: edit.viewed?.size ?? 0, summary: edit.summary === undefined ? 0 : 1, send_drafts: edit.send_drafts ? 1 : 0 };
  const lists = Object.keys(sizes) as (keyof typeof sizes)[];
  const at = lists.findIndex((each) => each === list);
  if (at < 0) return undefined;
  const single = list === 'summary' || list === 'send_drafts';
  const index = single ? 0 : n === undefined ? NaN : Number(n);
  return index < sizes[lists[at]!] ? lists.slice(0, at).reduce((sum, each) => sum + sizes[each], 0) + index : undefined;
}

/** What of a refused edit is refused for sure, and what is to be tried by itself. With `whole` nothing is tried in halves any more. */
export function apart(edit: Edit, error: Refusal, whole = false): { refused: Edit; rest: Edit[] } {
  const entries = entriesOf(edit);
  if (entries.length < 2 || !about_content.includes(error.status)) return { refused: edit, rest: [] };
  const named = error.field === undefined ? undefined : placeOf(edit, error.field);
  if (named !== undefined) return { refused: entries[named]!, rest: [together(entries.toSpliced(named, 1))] };
  if (whole) return { refused: edit, rest: [] };
  const half = Math.ceil(entries.length / 2);
  return { refused: {}, rest: [together(entries.slice(0, half)), together(entries.slice(half))] };
}

/** The edit without what `other` says anew. */
export function without(edit: Edit, other: Edit): Edit {
  const left = <V>(mine?: Map<string, V>, theirs?: Map<string, unknown>) => mine && new Map([...mine].filter(([key]) => !theirs?.has(key)));
  return {
    verdicts: left(edit.verdicts, other.verdicts),
    suggestions: left(edit.suggestions, other.suggestions),
    viewed: left(edit.viewed, other.viewed),
    summary: other.summary === undefined ? edit.summary : undefined,
    send_drafts: other.send_drafts ? undefined : edit.send_drafts,
  };
}

/** What nobody would miss: which files were looked at. */
export const decidesNothing = (edit: Edit): boolean => empty({ ...edit, viewed: undefined });

/** "2 verdicts on a.py, b.py". */
export function refusedWords(edit: Edit, review: Review): string {
  const some = (paths: (string | undefined)[]) => {
    const names = [...new Set(paths.filter((path) => path !== undefined))];
    return names.length ? ` on ${names.slice(0, 3).join(', ')}${names.length > 3 ? ' and others' : ''}` : '';
  };
  const hunks = [...(edit.verdicts?.keys() ?? [])];
  const comments = [...(edit.suggestions?.keys() ?? [])];
  return [
    hunks.length && count(hunks.length, 'verdict') + some(hunks.map((id) => review.hunks.find((hunk) => hunk.hunk_id === id)?.path)),
    comments.length && count(comments.length, 'suggestion') + some(comments.map((id) => review.comments.find((comment) => comment.id === id)?.path)),
    edit.viewed?.size && count(edit.viewed.size, 'mark of a viewed file', 'marks of viewed files'),
    edit.summary !== undefined && 'the words about the whole',
    edit.send_drafts && 'the sending of drafts',
  ]
    .filter(Boolean)
    .join('; ');
}

/** The texts in it, each with the place where it was typed. */
export const textsOf = (edit: Edit): [string, string][] => [
  ...[...(edit.verdicts ?? [])].flatMap(([id, { reason }]): [string, string][] => (reason ? [[`reason:${id}`, reason]] : [])),
  ...(edit.summary ? [['summary', edit.summary] as [string, string]] : []),
];
