import { useQueryClient, type QueryClient } from '@tanstack/react-query';
import { createContext, useContext, useEffect, useLayoutEffect, useMemo, useState, useSyncExternalStore, type ReactNode } from 'react';
import { get } from '../api/client';
import type { Job, Review, RunList } from '../api/types';
import { JobBook } from './job-book';
import { RunTrace, type TraceView } from './run-trace';
import { seenNow, subscribeSeen, type Seen } from './seen';
import { browserPorts, SharedStream, type LiveEvent, type StreamState } from './shared-stream';

/** Where somebody was in the list of jobs, to find it so again. */
export type ListPlace = { search: string; top: number; current: string | undefined };

type Live = { stream: SharedStream; book: JobBook; place: ListPlace };

const Context = createContext<Live | undefined>(undefined);

/** Events come in bursts; one look at the job afterwards is enough. */
const settle_ms = 150;

/** Of what changes a job, as its list shows it. */
const changes_job = new Set(['created', 'state', 'terminal', 'model', 'verify', 'finding', 'review']);

/** Not for what this browser did itself: the answer to that was the review. */
function readReview(client: QueryClient, event: LiveEvent): void {
  const queryKey = ['review', event.job, event.run];
  const known = client.getQueryData<Review>(queryKey);
  if (!known || event.revision === undefined || known.revision < event.revision) void client.invalidateQueries({ queryKey });
}

function refresher(book: JobBook, client: QueryClient) {
  const waiting = new Map<string, number>();
  const refresh = async (id: string) => {
    waiting.delete(id);
    try {
      // Both at once: a job that has a new run, beside a list of runs that does not, would say two things.
      const shown = client.getQueryData(['runs', id]) !== undefined;
      const [job, runs] = await Promise.all([get<Job>(`/api/v1/jobs/${id}`), shown ? get<RunList>(`/api/v1/jobs/${id}/runs`) : undefined]);
      book.put(job);
      client.setQueryData(['job', id], job);
      if (runs) client.setQueryData(['runs', id], runs.items);
      void client.invalidateQueries({ queryKey: ['cost', id] });
    } catch {
      // Gone or not reachable: the next event, or the next reset, looks again.
    }
  };
  return (event: LiveEvent) => {
    if (event.type === 'review') readReview(client, event);
    if (!changes_job.has(event.type) || waiting.has(event.job)) return;
    waiting.set(event.job, window.setTimeout(() => void refresh(event.job), settle_ms));
  };
}

/** The one stream of this browser and what it keeps up to date. Asks for nothing until somebody is `signed_in`. */
export function LiveProvider({ signed_in, children }: { signed_in: boolean; children: ReactNode }) {
  const client = useQueryClient();
  const [live] = useState<Live>(() => ({ stream: new SharedStream('/api/v1/events', browserPorts()), book: new JobBook(), place: { search: '', top: 0, current: undefined } }));
  // Before the page is painted: the jobs are on their way meanwhile.
  useLayoutEffect(() => {
    if (!signed_in) return;
    const { stream, book } = live;
    const refresh = refresher(book, client);
    stream.listen({
      event: refresh,
      reset: () => {
        void book.load();
        void client.invalidateQueries();
      },
      // Who was signed out meanwhile is told so by this question.
      state: (state) => state === 'lost' && void client.invalidateQueries({ queryKey: ['session'] }),
    });
    stream.start();
    void book.load();
    return () => stream.stop();
  }, [client, live, signed_in]);
  return <Context.Provider value={live}>{children}</Context.Provider>;
}

export function useLive(): Live {
  const live = useContext(Context);
  if (!live) throw new Error('useLive outside of LiveProvider');
  return live;
}

export function useJobs(): { jobs: Job[]; book: JobBook } {
  const { book } = useLive();
  return { jobs: useSyncExternalStore(book.subscribe, book.list), book };
}

export function useStreamState(): StreamState {
  const { stream } = useLive();
  return useSyncExternalStore(
    (changed) => stream.listen({ state: changed }),
    () => stream.state,
  );
}

export const useSeen = (): Seen => useSyncExternalStore(subscribeSeen, seenNow);

/** The trace of a run, followed while it is shown. */
export function useTrace(job: string, run: number): TraceView {
  const { stream } = useLive();
  const trace = useMemo(() => new RunTrace(job, run, stream), [job, run, stream]);
  useEffect(() => {
    trace.start();
    return () => trace.stop();
  }, [trace]);
  return useSyncExternalStore(trace.subscribe, trace.snapshot);
}

/** The present time, told anew every `every_ms`; stands still when it is 0. */
export function useNow(every_ms: number): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    if (!every_ms) return;
    setNow(Date.now());
    const timer = window.setInterval(() => setNow(Date.now()), every_ms);
    return () => window.clearInterval(timer);
  }, [every_ms]);
  return now;
}
