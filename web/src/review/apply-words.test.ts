import { expect, test } from 'vitest';
import { goesIn, isCommit } from './apply-words';

test('suggestions go in too, and are named', () => {
  expect([goesIn(3, 0), goesIn(1, 2), goesIn(0, 1), goesIn(0, 0)]).toEqual(['3 changes', '1 change and 2 suggestions', '1 suggestion', '0 changes']);
});
test('what became the commit is counted as far as it is known', () => {
  expect([isCommit(2, 0), isCommit(0, 1), isCommit(1, 1), isCommit(1, undefined), isCommit(0, undefined)]).toEqual(['2 changes are', '1 suggestion is', '1 change and 1 suggestion are', '1 change is', 'What was accepted is']);
});
