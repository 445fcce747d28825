import { useQueryClient } from '@tanstack/react-query';
import { useLocation } from 'wouter';
import { post } from '../api/client';
import type { Job, Run, RunRequest } from '../api/types';
import { toastRefusal } from '../ui/toasts';

/** Queues a run of the job and leads to it; says so when that is refused. */
export function useNewRun(job: Job) {
  const client = useQueryClient();
  const [, go] = useLocation();
  return async (request: RunRequest) => {
    try {
      const run = await post<Run>(`/api/v1/jobs/${job.id}/run`, request);
      await Promise.all(['job', 'runs'].map((what) => client.invalidateQueries({ queryKey: [what, job.id] })));
      go(`/jobs/${job.id}/runs/${run.number}/trace`);
    } catch (error) {
      toastRefusal('The run could not be queued', error);
    }
  };
}
