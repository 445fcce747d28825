import { describe, expect, test } from 'vitest';
import type { Job, JobList } from '../api/types';
import { JobBook, most_jobs } from '../live/job-book';
import { deniedHosts } from '../job/network';
import { spending } from '../job/spending';
import { filterSearch, listRows, readFilter, repositories } from './job-filter';
import { emptyForm, FieldError, formIn, formOf, requestOf, withHosts } from './job-form';

const job = (id: string, change: Record<string, unknown> = {}): Job =>
  ({
    id,
    state: 'succeeded',
    review: 'none',
    title: `Job ${id}`,
    task: `Job ${id}\n\nMore words.`,
    repository: '/srv/shop',
    base: null,
    created_by: 'ada',
    created_ms: 1000,
    adapter: 'pi',
    model: 'a/b',
    template: 'base',
    setup: [],
    verify: ['make test'],
    limits: { max_turns: 50, time_limit_s: 1800, stall_limit_s: 300, max_tokens: 1, verify_rounds: 2 },
    network: { allow_hosts: ['packages.example.org'] },
    budget: { run_nano_usd: 500_000_000 },
    push: true,
    last_run: { id: `r${id}`, state: change['state'] ?? 'succeeded', reason: null, created_ms: 1000, branch: null },
    ...change,
  }) as unknown as Job;

const never = () => false;
const keys = (jobs: Job[], search = '') => listRows(jobs, readFilter(search), never).map((row) => row.key);

describe('the list of jobs', () => {
  const jobs = [job('d', { review: 'waiting' }), job('c', { state: 'queued' }), job('b', { state: 'running' }), job('a', { title: 'The basket' })];

  test('begins with what needs somebody', () => expect(keys(jobs)).toEqual(['needs', 'd', 'running', 'b', 'queued', 'c', 'done', 'a']));
  test('shows what the address says', () => {
    expect(keys(jobs, '?state=live')).toEqual(['running', 'b', 'queued', 'c']);
    expect(keys(jobs, '?q=MORE+basket')).toEqual(['done', 'a']);
    expect(keys(jobs, '?repository=/elsewhere')).toEqual([]);
  });
  test('puts only what is set into the address', () => {
    expect(filterSearch({ q: 'a b', state: '', repository: '' })).toBe('?q=a+b');
    expect(filterSearch(readFilter('?state=failed&repository=%2Fsrv'))).toBe('?state=failed&repository=%2Fsrv');
  });
  test('tells who is next in the queue: the one who has waited longest', () => {
    const queued = [job('2', { state: 'queued', last_run: { created_ms: 20 } }), job('1', { state: 'queued', last_run: { created_ms: 10 } })];
    expect(listRows(queued, readFilter(''), never).flatMap((row) => (row.type === 'job' ? [`${row.key}:${row.place}`] : []))).toEqual(['2:2', '1:1']);
  });
  test('calls repositories by their whole address where their names are the same', () => {
    expect(repositories([job('1', { repository: '/a/x' }), job('2', { repository: '/b/x' }), job('3', { repository: '/c/y' })]).map((each) => each.name)).toEqual(['/a/x', '/b/x', 'y']);
  });
});

describe('the book of jobs', () => {
  const pages = (...lists: Job[][]) => {
    const asked: string[] = [];
    const book = new JobBook(async <T,>(path: string) => {
      asked.push(path);
      const at = asked.length - 1;
      return { items: lists[at], next_cursor: at + 1 < lists.length ? `c${at + 1}` : null } as JobList as T;
    });
    return { book, asked };
  };
  test('reads page after page and keeps the newest first', async () => {
    const { book, asked } = pages([job('c'), job('b')], [job('a')]);
    await book.load();
    expect([book.list().map((each) => each.id), book.complete]).toEqual([['c', 'b', 'a'], true]);
    expect(asked).toEqual(['/api/v1/jobs?limit=50', '/api/v1/jobs?limit=200&cursor=c1']);
  });
  test('says that older jobs could not be read, and reads them when it is asked again', async () => {
    let down = true;
    const book = new JobBook(async <T,>(path: string) => {
      if (!path.includes('cursor')) return { items: [job('b')], next_cursor: 'c1' } as JobList as T;
      if (down) throw new Error('away');
      return { items: [job('a')], next_cursor: null } as JobList as T;
    });
    await book.load();
    expect([book.ready, book.complete, String(book.failure)]).toEqual([true, false, 'Error: away']);
    down = false;
    await book.load();
    expect([book.list().map((each) => each.id), book.complete, book.failure]).toEqual([['b', 'a'], true, undefined]);
  });
  test('says that it holds the newest ones only when there are more, and looks for older ones that wait for a review', async () => {
    let last = 0;
    const book = new JobBook(async <T,>(path: string) => {
      if (path.includes('review=waiting')) return { items: [job('old')], next_cursor: null } as JobList as T;
      const limit = Number(/limit=(\d+)/.exec(path)![1]);
      return { items: Array.from({ length: limit }, () => job(String(++last))), next_cursor: 'more' } as JobList as T;
    });
    await book.load();
    expect([last, book.complete, book.capped]).toEqual([most_jobs, true, true]);
    expect([book.list().length, book.find('old')?.id]).toEqual([most_jobs + 1, 'old']);
  });
  test('draws the first page at once, and not each of many', async () => {
    let page = 0;
    const ids = 'abcdefghij';
    const book = new JobBook(
      async <T,>() => ({ items: [job(ids[page]!)], next_cursor: ++page < ids.length ? 'more' : null }) as JobList as T,
      () => 100 * page,
    );
    const drawn: number[] = [];
    book.subscribe(() => drawn.push(book.list().length));
    await book.load();
    expect(drawn).toEqual([1, 4, 7, 10]);
  });
  test('puts one job anew without reading the others', async () => {
    const { book, asked } = pages([job('a')]);
    await book.load();
    book.put(job('a', { state: 'failed' }), job('b'));
    expect(book.list().map((each) => `${each.id} ${each.state}`)).toEqual(['b succeeded', 'a failed']);
    expect(asked.length).toBe(1);
  });
  test('says that the server does not answer, and keeps what it has', async () => {
    const { book } = pages([job('a')]);
    await book.load();
    const broken = new JobBook(() => Promise.reject(new Error('away')));
    await broken.load();
    expect([String(broken.failure), broken.ready, book.list().length]).toEqual(['Error: away', false, 1]);
  });
});

describe('the form', () => {
  test('that was kept is taken up again, and one of another version is not', () => {
    const form = { ...emptyForm(), task: 'Mend it', verify: ['make test'] };
    expect([formIn(JSON.stringify(form)), formIn(''), formIn('{'), formIn('null'), formIn(JSON.stringify({ ...form, verify: 'make' }))]).toEqual([form, undefined, undefined, undefined, undefined]);
  });
  test('sends only what was filled in', () => {
    expect(requestOf({ ...emptyForm(), repository: ' /srv/shop ', task: 'Do it.' })).toEqual({ repository: '/srv/shop', task: 'Do it.' });
  });
  test('gives back the same job', () => {
    expect(requestOf(formOf(job('a')))).toMatchObject({ repository: '/srv/shop', adapter: 'pi', verify: ['make test'], network: { allow_hosts: ['packages.example.org'] }, budget: { run_usd: '0.5' }, limits: { max_turns: 50, time_limit_s: 1800 } });
  });
  test('keeps commands of several lines in one piece', () => expect(requestOf({ ...emptyForm(), repository: 'r', task: 't', verify: ['a\nb', ' ', 'c'] }).verify).toEqual(['a\nb', 'c']));
  test('says which field is wrong', () => {
    const field = (change: object) => {
      try {
        requestOf({ ...emptyForm(), repository: 'r', task: 't', ...change });
      } catch (error) {
        return error instanceof FieldError && error.field;
      }
      return undefined;
    };
    expect([field({ task: ' ' }), field({ budget_usd: 'much' }), field({ budget_usd: '0' }), field({ max_turns: '-1' }), field({})]).toEqual(['task', 'budget', 'budget', 'limits.max_turns', undefined]);
  });
  test('adds allowed hosts to those that were allowed', () => expect(withHosts(job('a'), ['packages.example.org', 'mirror.example.org']).network).toEqual({ allow_hosts: ['packages.example.org', 'mirror.example.org'] }));
});

test('denied hosts are counted, the most wanted first', () => {
  const network = (seq: number, host: string, decision = 'denied_host') => ({ seq, ts_ms: 0, run: 1, type: 'network' as const, data: { host, port: 443, decision } });
  expect(deniedHosts([network(1, 'a'), network(2, 'b'), network(3, 'b'), network(4, 'c', 'allowed')])).toEqual([
    { host: 'b', port: 443, times: 2, seq: 2 },
    { host: 'a', port: 443, times: 1, seq: 1 },
  ]);
});

test('spending adds up from the beginning of the run', () => {
  const at = (seq: number, ts_ms: number, type: 'log' | 'model', cost_nano_usd?: number | null) => ({ seq, ts_ms, run: 1, type, data: { cost_nano_usd } });
  expect(spending([at(1, 1000, 'log'), at(2, 3000, 'model', 5), at(3, 4000, 'model', null), at(4, 5000, 'model', 7)])).toEqual([
    { at_s: 0, nano_usd: 0 },
    { at_s: 2, nano_usd: 5 },
    { at_s: 3, nano_usd: 5 },
    { at_s: 4, nano_usd: 12 },
  ]);
  expect(spending([at(1, 1000, 'log')])).toEqual([]);
});
