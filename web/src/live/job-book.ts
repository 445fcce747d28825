import { get } from '../api/client';
import type { Job, JobList } from '../api/types';

/** More than a window shows, and soon there. */
export const first_jobs = 50;
export const page_jobs = 200;
/** While many pages are read, the list is drawn so often: drawing it for each would hold up the first. */
const told_each_ms = 300;
/** So many are kept; older ones are found by their address. */
export const most_jobs = 5000;
/** Of older ones that wait for a review. */
const most_waiting = 500;

/** The jobs that this browser knows, newest first. Loaded page by page, then kept up to date one by one. */
export class JobBook {
  private readonly jobs = new Map<string, Job>();
  private readonly listeners = new Set<() => void>();
  private sorted: Job[] | undefined;
  private loading = 0;
  /** The first page is there. */
  ready = false;
  /** All pages are there, or as many as are kept. */
  complete = false;
  /** There are older jobs than those that are kept. */
  capped = false;
  /** Why reading broke off. */
  failure: unknown;

  constructor(
    private readonly fetch_json: <T>(path: string) => Promise<T> = get,
    private readonly now_ms: () => number = () => performance.now(),
  ) {}

  subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  /** Newest first: ids are in the order of time. The array is the same one until something changes. */
  list = (): Job[] => (this.sorted ??= [...this.jobs.values()].sort((a, b) => (a.id < b.id ? 1 : a.id > b.id ? -1 : 0)));

  find = (id: string): Job | undefined => this.jobs.get(id);

  put(...jobs: Job[]): void {
    for (const job of jobs) this.jobs.set(job.id, job);
    this.changed();
  }

  /** Reads everything anew. A call that is under way when the next one comes gives up. */
  async load(): Promise<void> {
    const mine = ++this.loading;
    let told_ms = -Infinity;
    try {
      for await (const { items, last, left_out } of this.pages('', most_jobs)) {
        if (mine !== this.loading) return;
        this.failure = undefined;
        this.ready = true;
        this.complete = last;
        this.capped = left_out;
        for (const job of items) this.jobs.set(job.id, job);
        if (last || this.now_ms() - told_ms >= told_each_ms) {
          this.changed();
          told_ms = this.now_ms();
        }
      }
      // What needs somebody does not get lost for its age.
      if (this.capped) for await (const { items } of this.pages('review=waiting&', most_waiting)) if (mine === this.loading) this.put(...items);
    } catch (error) {
      if (mine !== this.loading) return;
      this.failure = error;
      this.changed();
    }
  }

  /** Newest first, at most `most`. `last`: no page follows; `left_out`: though there are more jobs. */
  private async *pages(filter: string, most: number): AsyncGenerator<{ items: Job[]; last: boolean; left_out: boolean }> {
    let cursor = '';
    for (let loaded = 0; loaded < most; ) {
      const limit = Math.min(loaded ? page_jobs : first_jobs, most - loaded);
      const page: JobList = await this.fetch_json(`/api/v1/jobs?${filter}limit=${limit}${cursor && `&cursor=${encodeURIComponent(cursor)}`}`);
      loaded += limit;
      const left_out = page.next_cursor !== null && loaded >= most;
      yield { items: page.items, last: page.next_cursor === null || left_out, left_out };
      if (page.next_cursor === null) return;
      cursor = page.next_cursor;
    }
  }

  private changed(): void {
    this.sorted = undefined;
    for (const listener of [...this.listeners]) listener();
  }
}
