// Serves the built dashboard, the bare pages, and made-up answers of the API to both.
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { extname, join } from 'node:path';
import type { Diff, Job, Review, ReviewEdit, TraceEvent } from '../src/api/types';
import { diff, edited, job, jobs, patch, review, run, trace, type Change } from './made';

const types: Record<string, string> = { '.html': 'text/html', '.js': 'text/javascript', '.css': 'text/css', '.svg': 'image/svg+xml' };

export type Scene = { jobs: number; turns: number; live: boolean; change?: Change };

const nothing: Change = { files: 1, hunks: 1, lines: 10 };

export class MadeUpServer {
  private readonly server: Server;
  private scene: Scene = { jobs: 1, turns: 1, live: false };
  private jobs: Job[] = [];
  private events: TraceEvent[] = [];
  private diff: Diff = diff('');
  private review: Review = review(nothing);
  private streams: ServerResponse[] = [];

  constructor(
    private readonly dashboard: string,
    private readonly bare: string,
  ) {
    this.server = createServer((request, response) => this.answer(request, response));
  }

  async start(): Promise<string> {
    await new Promise<void>((done) => this.server.listen(0, '127.0.0.1', done));
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  stop(): void {
    this.server.closeAllConnections();
    this.server.close();
  }

  show(scene: Scene): void {
    this.scene = scene;
    const shown = scene.live ? job({ state: 'running', review: 'none', last_run: this.run() }) : job();
    this.jobs = scene.jobs > 1 ? jobs(scene.jobs) : [shown];
    this.events = trace(scene.turns);
    this.diff = diff(patch(scene.change ?? nothing));
    this.review = review(scene.change ?? nothing);
  }

  /** `count` events, `each_ms` one, to who listens; resolves after the last. */
  async tell(count: number, each_ms: number): Promise<void> {
    const before = this.events.length;
    const began = performance.now();
    const more = trace(this.scene.turns + Math.ceil(count / 5)).slice(before, before + count);
    for (const [i, event] of more.entries()) {
      const wait_ms = began + i * each_ms - performance.now();
      if (wait_ms > 0) await new Promise((done) => setTimeout(done, wait_ms));
      const now = { ...event, ts_ms: Date.now() };
      this.events.push(now);
      for (const stream of this.streams) stream.write(`id: ${now.seq}\ndata: ${JSON.stringify({ job: this.jobs[0]!.id, ...now })}\n\n`);
    }
  }

  private run = () => (this.scene.live ? run({ state: 'running', reason: null, ended_ms: null, diff_blob: null, review: 'none' }) : run());

  private answer(request: IncomingMessage, response: ServerResponse): void {
    const url = new URL(request.url ?? '/', 'http://localhost');
    if (url.pathname === '/api/v1/events') return this.stream(response);
    if (request.method === 'PATCH' && url.pathname.endsWith('/review')) return void this.decide(request, response);
    const found = url.pathname.startsWith('/api/') ? this.api(url) : undefined;
    if (typeof found === 'string') return void response.writeHead(200, { 'content-type': 'text/x-diff' }).end(found);
    if (found !== undefined) return void response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(found));
    if (url.pathname.startsWith('/api/')) return void response.writeHead(404, { 'content-type': 'application/json' }).end('{"error":{"code":"not_found","message":"not made up"}}');
    this.file(url.pathname, response);
  }

  private async decide(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    this.review = edited(this.review, JSON.parse(Buffer.concat(parts).toString()) as ReviewEdit);
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(this.review));
  }

  private file(path: string, response: ServerResponse): void {
    const file = path.startsWith('/bare/') ? join(this.bare, path.slice('/bare/'.length)) : join(this.dashboard, extname(path) ? path : 'index.html');
    try {
      const body = readFileSync(file);
      response.writeHead(200, { 'content-type': types[extname(file)] ?? 'application/octet-stream' }).end(body);
    } catch {
      response.writeHead(404).end();
    }
  }

  private stream(response: ServerResponse): void {
    response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
    response.write(': hello\n\n');
    this.streams.push(response);
    response.on('close', () => (this.streams = this.streams.filter((each) => each !== response)));
  }

  private api(url: URL): unknown {
    const path = url.pathname.slice('/api/v1'.length);
    if (path === '/session') return { principal: 'ada', role: 'admin', local: false };
    if (path === '/jobs') return this.jobPage(Number(url.searchParams.get('limit')), Number(url.searchParams.get('cursor') ?? 0));
    const [, , , ...rest] = path.split('/');
    const of_run = rest[0] === 'runs' && rest.length > 1 ? rest.slice(2).join('/') : rest.join('/');
    if (of_run === 'trace') return this.tracePage(Number(url.searchParams.get('limit')), Number(url.searchParams.get('after')));
    if (of_run === 'diff') return this.diff;
    if (of_run === 'review') return this.review;
    if (of_run === 'cost') return { models: [], cost_nano_usd: null, reported_cost_nano_usd: null };
    if (of_run === 'runs') return { items: [this.run()], next_cursor: null };
    return of_run === '' ? (rest.length ? this.run() : this.jobs[0]) : undefined;
  }

  private jobPage(limit: number, from: number) {
    const end = from + limit;
    return { items: this.jobs.slice(from, end), next_cursor: end < this.jobs.length ? String(end) : null };
  }

  private tracePage(limit: number, after: number) {
    const items = this.events.slice(after, after + limit);
    const last = after + items.length;
    const complete = !this.scene.live && last === this.events.length;
    return { items, next_seq: last, next_cursor: complete ? null : String(last), complete };
  }
}
