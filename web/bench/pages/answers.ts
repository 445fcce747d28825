// What the API answers, in pages of the sizes that the dashboard asks for.
import type { Job, JobList, TraceEvent, TracePage } from '../../src/api/types';
import { first_jobs, page_jobs } from '../../src/live/job-book';
import { page_events } from '../../src/live/run-trace';

export async function* jobPages(): AsyncGenerator<Job[]> {
  let limit = first_jobs;
  for (let cursor: string | null = ''; cursor !== null; limit = page_jobs) {
    const page = (await (await fetch(`/api/v1/jobs?limit=${limit}${cursor && `&cursor=${cursor}`}`)).json()) as JobList;
    yield page.items;
    cursor = page.next_cursor;
  }
}

export async function* tracePages(): AsyncGenerator<TraceEvent[]> {
  for (let after = 0, complete = false; !complete; ) {
    const page = (await (await fetch(`/api/v1/jobs/01jdk3v9x2/runs/1/trace?limit=${page_events}&after=${after}`)).json()) as TracePage;
    yield page.items;
    ({ next_seq: after, complete } = page);
  }
}
