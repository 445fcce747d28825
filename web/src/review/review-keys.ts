import type { ReviewHunk } from '../api/types';
import { useKeys, type Key } from '../ui/keys';
import { toast } from '../ui/toasts';
import { useDesk } from './desk';
import { nextUndecided, stepped, steppedFile } from './order';

export type Acts = {
  hunks: ReviewHunk[];
  paths: string[];
  path: string | undefined;
  showHunk: (hunk: ReviewHunk | undefined) => void;
  showFile: (path: string | undefined) => void;
  /** On the selected lines, or on that hunk. */
  comment: (hunk: ReviewHunk | undefined) => void;
  toggleViewed: (path: string) => void;
  toggleSplit: () => void;
  toggleWhitespace: () => void;
};

export function useReviewKeys({ hunks, paths, path, showHunk, showFile, comment, toggleViewed, toggleSplit, toggleWhitespace }: Acts): void {
  const { may, current, decide, reason } = useDesk();
  const here = hunks.find((hunk) => hunk.hunk_id === current);
  const decideHere = (verdict: 'accept' | 'reject') => {
    if (!here) return showHunk(hunks[0]);
    const next = here.verdict === verdict ? null : verdict;
    decide([here], next);
    if (next === 'reject') reason(here.hunk_id);
    else if (next === 'accept') showHunk(nextUndecided(hunks, here.hunk_id));
  };
  const nextOpen = () => {
    const next = nextUndecided(hunks, current);
    if (next) showHunk(next);
    else toast(hunks.length ? 'Everything is decided' : 'Verdicts are given on the whole change, with its white space', 'quiet');
  };
  const deciding: Key[] = [
    { keys: 'a', word: 'Accept, and on to the next undecided', run: () => decideHere('accept') },
    { keys: 'r', word: 'Reject, and say why', run: () => decideHere('reject') },
    { keys: 'c', word: 'Comment on the selected lines, or on the hunk', run: () => comment(here) },
    { keys: 'v', word: 'Viewed, or not', run: () => path !== undefined && toggleViewed(path) },
  ];
  useKeys('Review', [
    { keys: 'j', word: 'Next hunk', moves: true, run: () => showHunk(stepped(hunks, current, 1)) },
    { keys: 'k', word: 'Hunk before', moves: true, run: () => showHunk(stepped(hunks, current, -1)) },
    { keys: 'n', word: 'Next undecided hunk', run: nextOpen },
    ...(may.decide ? deciding : []),
    { keys: ']', word: 'Next file', moves: true, run: () => showFile(steppedFile(paths, path, 1)) },
    { keys: '[', word: 'File before', moves: true, run: () => showFile(steppedFile(paths, path, -1)) },
    { keys: 's', word: 'Side by side, or one column', run: toggleSplit },
    { keys: 'w', word: 'With white space, or without', run: toggleWhitespace },
  ]);
}
