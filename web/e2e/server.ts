// A real server with a data directory of its own, and repositories for its jobs.
import { execFileSync, spawn, type ChildProcess } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';

const root = resolve(import.meta.dirname, '../..');
export const forge = process.env['FORGE_BIN'] ?? join(root, 'build/bin/forge');
export const models = join(import.meta.dirname, 'models');
export const repairs = join(root, 'docs/demo/fix-wrap.json');

const again_ms = 200;

export class Server {
  readonly directory = mkdtempSync(join(tmpdir(), 'forge-e2e-'));
  readonly repository = join(this.directory, 'textkit');
  private child: ChildProcess | undefined;
  private secret = '';
  link = '';
  url = '';

  private get environment() {
    return {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      HOME: this.directory,
      FORGE_DATA_DIR: join(this.directory, 'data'),
      // Started again, it is where it was.
      FORGE_SERVER__LISTEN: this.url ? new URL(this.url).host : '127.0.0.1:0',
      FORGE_JOBS__DEFAULT_MODEL: `scripted:${repairs}`,
      FORGE_MODELS__PRICES_FILE: join(models, 'prices.json'),
      FORGE_REPOSITORIES__ALLOW_LOCAL: [this.directory, models, join(root, 'docs/demo')].join(','),
      // What the sandbox enforces is held by its own tests; this machine may not let it enforce everything.
      FORGE_SANDBOX__POLICY: 'degraded',
    };
  }

  makeRepository(): void {
    cpSync(join(root, 'docs/demo/sample'), this.repository, { recursive: true });
    const git = (...words: string[]) =>
      execFileSync('git', ['-C', this.repository, '-c', 'user.name=Ada', '-c', 'user.email=ada@localhost', '-c', 'commit.gpgsign=false', ...words], { stdio: 'ignore' });
    git('init', '-q', '-b', 'main');
    git('add', '-A');
    git('commit', '-q', '-m', 'A small project with failing tests');
  }

  /** Ready when it has printed the sign-in link. */
  async start(): Promise<void> {
    for (const program of [forge, `${forge}-sandbox`]) if (!existsSync(program)) throw new Error(`${program} is not there: ./dev build makes it`);
    mkdirSync(join(this.directory, 'data'), { recursive: true, mode: 0o700 });
    const child = spawn(forge, ['serve'], { env: this.environment, stdio: ['ignore', 'pipe', 'pipe'] });
    this.child = child;
    let log = '';
    child.stderr.on('data', (piece: Buffer) => (log = (log + piece.toString()).slice(-4000)));
    this.link = await new Promise<string>((found, failed) => {
      createInterface({ input: child.stdout }).on('line', (line) => {
        const link = /http\S*\/sign-in\/\S+/.exec(line)?.[0];
        if (link) found(link);
      });
      child.on('exit', (code) => failed(new Error(`forge serve ended with ${code}: ${log}`)));
    });
    this.url = new URL(this.link).origin;
  }

  /** A token of that role: `forge token create`, as an administrator would. */
  token(role: string, name = role): string {
    const out = execFileSync(forge, ['token', 'create', name, '--role', role], { env: this.environment, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
    const secret = /forge_\S+/.exec(out)?.[0];
    if (!secret) throw new Error(`no token in: ${out}`);
    return secret;
  }

  /** A job made by an administrator's program, not by hand. Returns its id. */
  async create(job: { task: string; model?: string; verify?: string[]; start?: boolean; title?: string }): Promise<string> {
    this.secret ||= this.token('admin', 'program');
    const answer = await fetch(`${this.url}/api/v1/jobs`, {
      method: 'POST',
      headers: { Authorization: `Bearer ${this.secret}`, 'Content-Type': 'application/json' },
      body: JSON.stringify({ repository: this.repository, ...job }),
    });
    if (!answer.ok) throw new Error(`no job: ${await answer.text()}`);
    return ((await answer.json()) as { id: string }).id;
  }

  async stop(): Promise<void> {
    const child = this.child;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((done) => child.on('exit', done));
    // The second ends live runs at once; but two that are sent together may arrive as one.
    child.kill('SIGTERM');
    const again = setInterval(() => child.kill('SIGTERM'), again_ms);
    await ended;
    clearInterval(again);
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
