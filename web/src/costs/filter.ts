/** What the address of the costs page says: how many days back, and of what. Empty = all. */
export type CostFilter = { days: number; repository: string; model: string };

export const spans = [7, 30, 90, 365] as const;
const usual = 30;

export function readCostFilter(search: string): CostFilter {
  const params = new URLSearchParams(search);
  const days = Number(params.get('days') ?? usual);
  return { days: spans.find((span) => span === days) ?? usual, repository: params.get('repository') ?? '', model: params.get('model') ?? '' };
}

export function costSearch({ days, repository, model }: CostFilter): string {
  const params = new URLSearchParams();
  if (days !== usual) params.set('days', String(days));
  if (repository) params.set('repository', repository);
  if (model) params.set('model', model);
  return params.size ? `?${params.toString()}` : '';
}
