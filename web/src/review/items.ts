import type { CodeViewDiffItem, DiffLineAnnotation } from '@pierre/diffs';
import type { ReviewComment, ReviewFile, ReviewHunk } from '../api/types';
import { anchorOf, type Place } from './drafts';
import { endOf, holds } from './lines';
import type { ShownFile } from './shown-file';

/** What stands between the lines. */
export type Spot = { kind: 'hunk'; hunk: string } | { kind: 'comment'; comment: string } | { kind: 'editor'; place: Place } | { kind: 'picture'; path: string } | { kind: 'remark'; text: string } | { kind: 'unsafe' };

/** As the diff view wants it: a union would be spread over its types. */
export type Pinned = { spot: Spot };

export type Item = CodeViewDiffItem<Pinned>;

export type Standing = { file?: ReviewFile; hunks: ReviewHunk[]; comments: ReviewComment[]; editors: Place[] };

const sides = { head: 'additions', base: 'deletions' } as const;

const at = (side: 'head' | 'base', lineNumber: number, spot: Spot): DiffLineAnnotation<Pinned> => ({ side: sides[side], lineNumber, metadata: { spot } });

/** Above all lines of the file. A deleted file has only the base's side, an added one only the head's. */
const above = (file: ReviewFile | undefined, spot: Spot) => at(file?.change === 'deleted' ? 'base' : 'head', 0, spot);

export const isPicture = (path: string): boolean => /\.(png|jpe?g|gif|webp)$/i.test(path);

/** Everything that stands between the lines of a file: pictures, the controls of its hunks, comments, comments being written. */
export function spotsOf(shown: ShownFile, { file, hunks, comments, editors }: Standing): DiffLineAnnotation<Pinned>[] {
  const spots: DiffLineAnnotation<Pinned>[] = [];
  if (shown.unsafe) spots.push(above(file, { kind: 'unsafe' }));
  else if (file?.binary) spots.push(above(file, isPicture(file.path) ? { kind: 'picture', path: file.path } : { kind: 'remark', text: 'This file is not text.' }));
  else if (shown.diff.hunks.length === 0 && file?.change === 'added') spots.push(above(file, { kind: 'remark', text: 'The file is empty.' }));
  for (const hunk of hunks) {
    const spot: Spot = { kind: 'hunk', hunk: hunk.hunk_id };
    const lines = hunk.kind === 'text' ? shown.diff.hunks.find((each) => each.additionStart === hunk.new_start && each.deletionStart === hunk.old_start) : undefined;
    const end = lines && endOf(lines);
    spots.push(end ? at(end.side, end.line, spot) : above(file, spot));
  }
  for (const comment of comments) {
    const seen = !comment.stale && holds(shown.diff, comment.side, comment.end_line);
    spots.push(seen ? at(comment.side, comment.end_line, { kind: 'comment', comment: comment.id }) : above(file, { kind: 'comment', comment: comment.id }));
  }
  for (const place of editors) {
    const lines = anchorOf(place);
    if (lines) spots.push(holds(shown.diff, lines.side, lines.end_line) ? at(lines.side, lines.end_line, { kind: 'editor', place }) : above(file, { kind: 'editor', place }));
  }
  return spots;
}

const sameList = <T>(a: T[], b: T[], same: (a: T, b: T) => boolean) => a.length === b.length && a.every((each, i) => each === b[i] || same(each, b[i]!));

/** Verdicts and words are shown in their spots; where the spots are does not depend on them. */
const sameStanding = (a: Standing, b: Standing): boolean =>
  (a.file === b.file || (a.file?.binary === b.file?.binary && a.file?.change === b.file?.change)) &&
  sameList(a.hunks, b.hunks, (one, other) => one.hunk_id === other.hunk_id) &&
  sameList(a.comments, b.comments, (one, other) => one.id === other.id && one.side === other.side && one.end_line === other.end_line && one.stale === other.stale) &&
  sameList(a.editors, b.editors, () => false);

/** What stands between the lines, made anew only for a file about which that changed. */
export class SpotMemory {
  private readonly known = new WeakMap<ShownFile, { standing: Standing; spots: DiffLineAnnotation<Pinned>[] }>();

  of(shown: ShownFile, standing: Standing): DiffLineAnnotation<Pinned>[] {
    const before = this.known.get(shown);
    const spots = before && sameStanding(before.standing, standing) ? before.spots : spotsOf(shown, standing);
    this.known.set(shown, { standing, spots });
    return spots;
  }
}

/** Items that did not change stay the same ones: the view draws only what did. */
export class ItemList {
  private items = new Map<string, Item>();

  next(files: { shown: ShownFile; spots: DiffLineAnnotation<Pinned>[]; folded: boolean }[]): Item[] {
    const kept = new Map<string, Item>();
    for (const { shown, spots, folded } of files) {
      const before = this.items.get(shown.path);
      const same = before && before.fileDiff === shown.diff && before.collapsed === folded && (before.annotations === spots || JSON.stringify(before.annotations) === JSON.stringify(spots));
      kept.set(shown.path, same ? before : { id: shown.path, type: 'diff', fileDiff: shown.diff, annotations: spots, collapsed: folded, version: (before?.version ?? 0) + 1 });
    }
    this.items = kept;
    return [...kept.values()];
  }
}
