import { describe, expect, test } from 'vitest';
import type { Job, Reason, Run } from '../api/types';
import { bytes, count, money, plain, tokens } from './money';
import { modelName } from './model';
import { repositoryName, shownTitle } from './repository';
import { groupOf, need, reasonSentence, reasonWords, runSentence } from './states';
import { ago, duration, moment, monthDayUtc } from './time';

describe('money', () => {
  test('shows more digits the smaller the sum is', () => {
    expect([0, 34_134_000, 340_000_000, 12_500_000_000].map(money)).toEqual(['$0', '$0.0341', '$0.340', '$12.50']);
  });
  test('does not round a small sum to nothing', () => expect(money(20_000)).toBe('<$0.0001'));
  test('does not take an unknown price for nothing', () => expect(money(null)).toBe('–'));
});

describe('counts', () => {
  test('tokens change their unit where the number would become long', () => {
    expect([0, 999, 1000, 5120, 99_949, 99_950, 999_949, 999_950, 20_480_000].map(tokens)).toEqual(['0', '999', '1k', '5.1k', '99.9k', '100k', '1000k', '1M', '20.5M']);
  });
  test('bytes are counted in powers of two', () => expect([1023, 1024, 16 << 10, 1_572_864].map(bytes)).toEqual(['1023 B', '1 KiB', '16 KiB', '1.5 MiB']));
  test('digits stand in groups of three', () => expect([0, 999, 1000, 12_034, 1_234_567].map(plain)).toEqual(['0', '999', '1,000', '12,034', '1,234,567']));
  test('one is singular', () => expect([count(1, 'file'), count(2, 'file'), count(5000, 'job')]).toEqual(['1 file', '2 files', '5,000 jobs']));
});

describe('time', () => {
  test('a duration has one or two units', () => {
    expect([0, 340, 999, 4200, 41_000, 60_000, 200_000, 7_500_000, 86_400_000 * 3].map(duration)).toEqual(['0 ms', '340 ms', '999 ms', '4.2 s', '41 s', '1 m', '3 m 20 s', '2 h 5 m', '3 d']);
  });
  test('a duration never shows 60 of a smaller unit', () => expect([59_600, 3_599_600].map(duration)).toEqual(['1 m', '1 h']));
  test('a clock that is ahead of the server shows no negative time', () => expect([duration(-5), ago(1000, 0)]).toEqual(['0 s', 'now']));
  test('the past is told in the unit that fits', () => {
    const now = Date.UTC(2026, 5, 1);
    expect([10, 70, 3 * 3600, 2 * 86_400].map((s) => ago(now - s * 1000, now))).toEqual(['now', '1 min', '3 h', '2 d']);
    expect(ago(Date.UTC(2026, 0, 3, 12), now)).toBe('Jan 3, 2026');
  });
  test('a moment is told in full, in the zone of the reader', () => expect(moment(new Date(2026, 0, 3, 7, 5, 9).getTime())).toBe('3 Jan 2026, 07:05:09'));
  test('a day of the costs is one of UTC', () => expect([Date.UTC(2026, 11, 31), Date.UTC(2027, 0, 1) - 1].map(monthDayUtc)).toEqual(['Dec 31', 'Dec 31']));
});

test('a repository is called by the last part of its address', () => {
  expect(['https://git.example.com/a/shop.git', '/srv/repos/shop/', 'shop'].map(repositoryName)).toEqual(['shop', 'shop', 'shop']);
});

test('a title is shown without the marks of Markdown', () =>
  expect(['## Fix it', '#1 is wrong', 'C# client', 'Add `rich` and **use** it', 'a ` b', '2 ** 3 ** 4'].map(shownTitle)).toEqual(['Fix it', '#1 is wrong', 'C# client', 'Add rich and use it', 'a ` b', '2 ** 3 ** 4']));

test('a script is called by the name of its file', () => expect(['scripted:/srv/a/fix.json', 'scripted:fix.json', 'anthropic/claude'].map(modelName)).toEqual(['scripted:fix.json', 'scripted:fix.json', 'anthropic/claude']));

const run = (change: Partial<Run>) => ({ id: 'run', state: 'succeeded', reason: 'completed', ...change }) as Run;
const job = (change: Partial<Job>) => ({ id: 'job', state: 'succeeded', review: 'none', last_run: run({}), ...change }) as Job;
const never = () => false;
const always = () => true;

describe('who needs somebody', () => {
  test('a job whose diff waits for a review', () => expect(need(job({ review: 'waiting' }), always)?.word).toBe('Review'));
  test('a failed one until its page was opened', () => {
    const failed = job({ state: 'failed', last_run: run({ state: 'failed', reason: 'stuck' }) });
    expect([groupOf(failed, never), groupOf(failed, always)]).toEqual(['needs', 'done']);
  });
  test('one that reached its budget says so', () => {
    expect(need(job({ state: 'failed', last_run: run({ reason: 'budget_exhausted' }) }), never)?.word).toBe('Budget reached');
  });
  test('not one that is at work, even when an earlier diff waits', () => expect(groupOf(job({ state: 'running', review: 'waiting' }), never)).toBe('running'));
  test('not one that was cancelled', () => expect(groupOf(job({ state: 'cancelled' }), never)).toBe('done'));
});

describe('reasons', () => {
  test('an ended run tells its reason, a live one what is going on', () => {
    expect(runSentence(run({ reason: 'max_turns' }))).toBe('The agent used all the turns it was given.');
    expect(runSentence(run({ reason: null, state: 'running' }))).toBe('The agent is at work.');
  });
  test('a reason of a newer server is shown as it is', () => {
    expect([reasonSentence('meteor_strike' as Reason), reasonWords('meteor_strike' as Reason)]).toEqual(['meteor_strike', 'meteor strike']);
  });
});
