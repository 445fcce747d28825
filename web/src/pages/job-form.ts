import type { Job, JobRequest } from '../api/types';
import { dollarsIn } from '../job/budget';
import { dollars } from '../words/money';

/** The fields as they are typed. Empty means: what the server takes by itself. */
export type JobForm = {
  repository: string;
  base: string;
  task: string;
  title: string;
  adapter: string;
  model: string;
  template: string;
  setup: string[];
  verify: string[];
  hosts: string;
  budget_usd: string;
  max_turns: string;
  time_limit_min: string;
  push: boolean;
};

export const emptyForm = (): JobForm => ({
  repository: '',
  base: '',
  task: '',
  title: '',
  adapter: '',
  model: '',
  template: '',
  setup: [],
  verify: [''],
  hosts: '',
  budget_usd: '',
  max_turns: '',
  time_limit_min: '',
  push: true,
});

/** A form as it was kept; nothing of it when it is not one of this version. */
export function formIn(text: string): JobForm | undefined {
  if (!text) return undefined;
  try {
    const kept = JSON.parse(text) as Record<string, unknown>;
    const alike = Object.entries(emptyForm()).every(([name, value]) => typeof kept[name] === typeof value && Array.isArray(kept[name]) === Array.isArray(value));
    return alike ? (kept as JobForm) : undefined;
  } catch {
    return undefined;
  }
}

/** A form that would create the same job again. */
export function formOf(job: Job): JobForm {
  return {
    repository: job.repository,
    base: job.base ?? '',
    task: job.task,
    title: job.title === firstLine(job.task) ? '' : (job.title ?? ''),
    adapter: job.adapter ?? '',
    model: job.model ?? '',
    template: job.template ?? '',
    setup: job.setup ?? [],
    verify: job.verify?.length ? job.verify : [''],
    hosts: job.network.allow_hosts.join(', '),
    budget_usd: job.budget.run_nano_usd === null ? '' : dollars(job.budget.run_nano_usd),
    max_turns: String(job.limits.max_turns),
    time_limit_min: String(job.limits.time_limit_s / 60),
    push: job.push ?? true,
  };
}

const firstLine = (task: string) => task.trim().split('\n', 1)[0]!.slice(0, 200);

export const hostsOf = (text: string): string[] => text.split(/[\s,]+/).filter(Boolean);

export class FieldError extends Error {
  constructor(
    readonly field: string,
    message: string,
  ) {
    super(message);
  }
}

function positive(text: string, field: string): number | undefined {
  if (!text.trim()) return undefined;
  const value = Number(text.trim());
  if (!Number.isFinite(value) || value <= 0) throw new FieldError(field, 'a number above 0');
  return value;
}

/** What is sent. Throws FieldError. */
export function requestOf(form: JobForm): JobRequest {
  if (!form.repository.trim()) throw new FieldError('repository', 'which repository?');
  if (!form.task.trim()) throw new FieldError('task', 'what is to be done?');
  const request: JobRequest = { repository: form.repository.trim(), task: form.task };
  for (const key of ['base', 'title', 'adapter', 'model', 'template'] as const) if (form[key].trim()) request[key] = form[key].trim();
  for (const key of ['setup', 'verify'] as const) {
    const commands = form[key].map((command) => command.trim()).filter(Boolean);
    if (commands.length) request[key] = commands;
  }
  const hosts = hostsOf(form.hosts);
  if (hosts.length) request.network = { allow_hosts: hosts };
  if (form.budget_usd.trim()) {
    const run_usd = dollarsIn(form.budget_usd);
    if (run_usd === undefined) throw new FieldError('budget', 'an amount above 0, such as 1.50');
    request.budget = { run_usd };
  }
  const turns = positive(form.max_turns, 'limits.max_turns');
  const minutes = positive(form.time_limit_min, 'limits.time_limit_s');
  if (turns !== undefined || minutes !== undefined)
    request.limits = { ...(turns && { max_turns: Math.round(turns) }), ...(minutes && { time_limit_s: Math.round(minutes * 60) }) };
  if (!form.push) request.push = false;
  return request;
}

/** A job once more, with more hosts than it had. */
export function withHosts(job: Job, hosts: string[]): JobRequest {
  const request = requestOf(formOf(job));
  return { ...request, network: { allow_hosts: [...new Set([...job.network.allow_hosts, ...hosts])] } };
}

/** 128 random bits: the same request sent twice makes one job. (randomUUID is not there without TLS.) */
export const requestKey = (): string => [...crypto.getRandomValues(new Uint8Array(16))].map((byte) => byte.toString(16).padStart(2, '0')).join('');
