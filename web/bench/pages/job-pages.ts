import type { Job, JobList } from '../../src/api/types';

/** The jobs in pages of the sizes that the dashboard asks for. */
export async function* jobPages(): AsyncGenerator<Job[]> {
  let limit = 50;
  for (let cursor: string | null = ''; cursor !== null; limit = 200) {
    const page = (await (await fetch(`/api/v1/jobs?limit=${limit}${cursor && `&cursor=${cursor}`}`)).json()) as JobList;
    yield page.items;
    cursor = page.next_cursor;
  }
}
