import { keepPreviousData, queryOptions, useQuery } from '@tanstack/react-query';
import { get, getText, Refusal } from './client';
import type { AdapterList, BranchList, Diff, Job, ModelList, Review, Run, RunCost, RunList, Session, SessionList, Spending, TemplateList, Token, TokenList, Who } from './types';

/** Who is signed in; null = nobody. */
export const session_query = queryOptions({
  queryKey: ['session'],
  staleTime: Infinity,
  queryFn: async ({ signal }): Promise<Who | null> => {
    try {
      return await get<Who>('/api/v1/session', signal);
    } catch (error) {
      if (error instanceof Refusal && error.status === 401) return null;
      throw error;
    }
  },
});
/** A server that was away when the page was opened is asked again. */
export const useSession = () => useQuery({ ...session_query, refetchInterval: ({ state }) => (state.status === 'error' ? 5000 : false) });

export const useJob = (id: string, known?: Job) =>
  useQuery({ queryKey: ['job', id], placeholderData: known, queryFn: ({ signal }) => get<Job>(`/api/v1/jobs/${id}`, signal) });

export const useRuns = (id: string) =>
  useQuery({ queryKey: ['runs', id], queryFn: async ({ signal }): Promise<Run[]> => (await get<RunList>(`/api/v1/jobs/${id}/runs`, signal)).items });

export const useCost = (id: string, run: number) =>
  useQuery({ queryKey: ['cost', id, run], queryFn: ({ signal }) => get<RunCost>(`/api/v1/jobs/${id}/runs/${run}/cost`, signal) });

/** `version` changes when there is another diff: its blob. */
export const useDiff = (id: string, run: number, version: string | null) =>
  useQuery({ queryKey: ['diff', id, run, version], enabled: version !== null, staleTime: Infinity, queryFn: ({ signal }) => get<Diff>(`/api/v1/jobs/${id}/runs/${run}/diff`, signal) });

/** The diff as text, for one that is too large to come as JSON. */
export const useLargeDiff = (id: string, run: number, enabled: boolean) =>
  useQuery({ queryKey: ['large-diff', id, run], enabled, staleTime: Infinity, queryFn: ({ signal }) => getText(`/api/v1/jobs/${id}/runs/${run}/diff`, 'text/x-diff', signal) });

/** What a run did on top of an earlier one; null: is not asked for. */
export const useSince = (id: string, run: number, since: number | null) =>
  useQuery({ queryKey: ['since', id, run, since], enabled: since !== null, staleTime: Infinity, queryFn: ({ signal }) => get<Diff>(`/api/v1/jobs/${id}/runs/${run}/diff?since_run=${since}`, signal) });

export const useReview = (id: string, run: number, enabled: boolean) =>
  useQuery({ queryKey: ['review', id, run], enabled, queryFn: ({ signal }) => get<Review>(`/api/v1/jobs/${id}/runs/${run}/review`, signal) });

export const useTemplates = () =>
  useQuery({ queryKey: ['templates'], staleTime: 60_000, queryFn: async ({ signal }) => (await get<TemplateList>('/api/v1/templates', signal)).items });

export const useAdapters = () =>
  useQuery({ queryKey: ['adapters'], staleTime: 60_000, queryFn: async ({ signal }) => (await get<AdapterList>('/api/v1/adapters', signal)).items });

export const useModels = () =>
  useQuery({ queryKey: ['models'], staleTime: 60_000, queryFn: async ({ signal }) => (await get<ModelList>('/api/v1/models', signal)).items });

/** Of a repository as it is now; nothing is asked while none is named. */
export const useBranches = (repository: string) =>
  useQuery({
    queryKey: ['branches', repository],
    enabled: repository !== '',
    staleTime: 30_000,
    retry: false,
    queryFn: ({ signal }) => get<BranchList>(`/api/v1/branches?repository=${encodeURIComponent(repository)}`, signal),
  });

/** What all jobs cost from that day (UTC) until today. */
export const useSpending = (from: string) =>
  useQuery({ queryKey: ['spending', from], refetchInterval: 60_000, placeholderData: keepPreviousData, queryFn: ({ signal }) => get<Spending>(`/api/v1/costs?from=${from}`, signal) });

export const useSessions = () =>
  useQuery({ queryKey: ['sessions'], queryFn: async ({ signal }): Promise<Session[]> => (await get<SessionList>('/api/v1/sessions', signal)).items });

export const useTokens = (enabled: boolean) =>
  useQuery({ queryKey: ['tokens'], enabled, queryFn: async ({ signal }): Promise<Token[]> => (await get<TokenList>('/api/v1/tokens', signal)).items });
