import type { Review, ReviewFile, ReviewHunk } from '../api/types';
import { keyOf } from './paths';

/** Looks things up by name in lists that never change: each list is indexed once, when it is first asked. */
function indexed<T>(name: (each: T) => string): (list: T[], wanted: string) => T | undefined {
  const known = new WeakMap<T[], Map<string, T>>();
  return (list, wanted) => {
    let index = known.get(list);
    if (!index) known.set(list, (index = new Map(list.map((each) => [name(each), each]))));
    return index.get(wanted);
  };
}

const hunkIn = indexed<ReviewHunk>((hunk) => hunk.hunk_id);
const fileIn = indexed<ReviewFile>(keyOf);

export const hunkOf = (review: Pick<Review, 'hunks'>, id: string) => hunkIn(review.hunks, id);
/** `key` as keyOf() makes it. */
export const fileOf = (review: Pick<Review, 'files'>, key: string) => fileIn(review.files, key);
