import type { Error as ErrorBody } from './types';

/** What the server answered instead of what was asked for; `status` 0 = there was no answer at all. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly field?: string,
    readonly hint?: string,
  ) {
    super(message);
  }
}

async function refusalOf(response: Response): Promise<Refusal> {
  try {
    const { error } = (await response.json()) as ErrorBody;
    return new Refusal(response.status, error.code, error.message, error.field, error.hint);
  } catch {
    return new Refusal(response.status, 'internal', `the server answered ${response.status}`);
  }
}

async function send(path: string, init: RequestInit): Promise<Response> {
  let response: Response;
  try {
    response = await fetch(path, { credentials: 'same-origin', ...init });
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw new Refusal(0, 'unavailable', 'the server does not answer');
  }
  if (!response.ok) throw await refusalOf(response);
  return response;
}

/** GET of JSON. Throws Refusal. */
export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  return (await send(path, { signal, headers: { Accept: 'application/json' } })).json() as Promise<T>;
}

/** GET of text, for blobs and diffs. Throws Refusal. */
export async function getText(path: string, accept: string, signal?: AbortSignal): Promise<string> {
  return (await send(path, { signal, headers: { Accept: accept } })).text();
}

/** POST of a JSON body; nothing when the answer has no body. Throws Refusal. */
export async function post<T>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<T> {
  const response = await send(path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
  return (response.status === 204 ? undefined : await response.json()) as T;
}

/** PATCH of a JSON body. Throws Refusal. */
export async function patch<T>(path: string, body: unknown, headers: Record<string, string> = {}): Promise<T> {
  const response = await send(path, { method: 'PATCH', headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body) });
  return (await response.json()) as T;
}

/** DELETE. Throws Refusal. */
export async function remove(path: string): Promise<void> {
  await send(path, { method: 'DELETE' });
}
