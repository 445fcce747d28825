import type { Job, State } from '../api/types';
import type { Seen } from '../live/seen';
import { repositoryName } from '../words/repository';
import { groupOf, type Group, groupWords } from '../words/states';

/** What the address of the list says. */
export type JobFilter = { q: string; state: string; repository: string };

export const states: { value: string; word: string; holds: (job: Job, group: Group) => boolean }[] = [
  { value: 'needs', word: 'Needs me', holds: (_, group) => group === 'needs' },
  { value: 'live', word: 'Running or queued', holds: (_, group) => group === 'running' || group === 'queued' },
  ...(['succeeded', 'failed', 'no_changes', 'cancelled'] as State[]).map((state) => ({
    value: state,
    word: { succeeded: 'Succeeded', failed: 'Failed', no_changes: 'No changes', cancelled: 'Cancelled' }[state as string]!,
    holds: (job: Job) => job.state === state,
  })),
];

export function readFilter(search: string): JobFilter {
  const params = new URLSearchParams(search);
  return { q: params.get('q') ?? '', state: params.get('state') ?? '', repository: params.get('repository') ?? '' };
}

export function filterSearch(filter: JobFilter): string {
  const params = new URLSearchParams(Object.entries(filter).filter(([, value]) => value !== ''));
  return params.size ? `?${params.toString()}` : '';
}

/** Every word must stand somewhere: in the title, task, repository, id, branch, or the name of who asked. */
function matches(job: Job, words: string[]): boolean {
  const all = [job.title, job.task, job.repository, job.id, job.created_by, job.model, job.last_run?.branch ?? ''].join('\n').toLowerCase();
  return words.every((word) => all.includes(word));
}

export type ListRow =
  | { type: 'group'; key: string; word: string; count: number }
  | { type: 'job'; key: string; job: Job; group: Group; place: number };

/** The rows of the list: groups in the order in which they matter, each with its jobs. */
export function listRows(jobs: Job[], filter: JobFilter, seen: Seen): ListRow[] {
  const words = filter.q.toLowerCase().split(/\s+/).filter(Boolean);
  const holds = states.find((each) => each.value === filter.state)?.holds;
  const groups: Record<Group, Job[]> = { needs: [], running: [], queued: [], done: [] };
  const places = queuePlaces(jobs);
  for (const job of jobs) {
    const group = groupOf(job, seen);
    if (filter.repository && job.repository !== filter.repository) continue;
    if (holds && !holds(job, group)) continue;
    if (words.length && !matches(job, words)) continue;
    groups[group].push(job);
  }
  return (Object.keys(groups) as Group[]).flatMap((group): ListRow[] => {
    const members = groups[group];
    if (!members.length) return [];
    return [
      { type: 'group', key: group, word: groupWords[group], count: members.length },
      ...members.map((job): ListRow => ({ type: 'job', key: job.id, job, group, place: places.get(job.id) ?? 0 })),
    ];
  });
}

/** The place in the queue, from 1: who came first goes first. */
function queuePlaces(jobs: Job[]): Map<string, number> {
  const queued = jobs.filter((job) => job.state === 'queued').sort((a, b) => (a.last_run?.created_ms ?? a.created_ms) - (b.last_run?.created_ms ?? b.created_ms));
  return new Map(queued.map((job, i) => [job.id, i + 1]));
}

/** Addresses of repositories by how many jobs they have, with names that are told apart. */
export function repositories(jobs: Job[]): { address: string; name: string }[] {
  const counts = new Map<string, number>();
  for (const job of jobs) counts.set(job.repository, (counts.get(job.repository) ?? 0) + 1);
  const names = new Map<string, number>();
  for (const address of counts.keys()) names.set(repositoryName(address), (names.get(repositoryName(address)) ?? 0) + 1);
  return [...counts.entries()]
    .sort((a, b) => b[1] - a[1])
    .map(([address]) => ({ address, name: names.get(repositoryName(address)) === 1 ? repositoryName(address) : address }));
}
