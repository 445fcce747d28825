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

export class Server {
  readonly directory = mkdtempSync(join(tmpdir(), 'forge-e2e-'));
  readonly repository = join(this.directory, 'textkit');
  private child: ChildProcess | undefined;
  link = '';
  url = '';

  private get environment() {
    return {
      PATH: process.env['PATH'] ?? '/usr/bin:/bin',
      HOME: this.directory,
      FORGE_DATA_DIR: join(this.directory, 'data'),
      FORGE_SERVER__LISTEN: '127.0.0.1:0',
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
    if (!existsSync(forge)) throw new Error(`${forge} is not there: ./dev build makes it`);
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
  token(role: string): string {
    const out = execFileSync(forge, ['token', 'create', role, '--role', role], { env: this.environment, encoding: 'utf8' });
    const secret = /forge_\S+/.exec(out)?.[0];
    if (!secret) throw new Error(`no token in: ${out}`);
    return secret;
  }

  async stop(): Promise<void> {
    const child = this.child;
    if (!child || child.exitCode !== null) return;
    const ended = new Promise((done) => child.on('exit', done));
    child.kill('SIGTERM');
    child.kill('SIGTERM'); // the second ends live runs at once
    await ended;
  }

  remove(): void {
    rmSync(this.directory, { recursive: true, force: true });
  }
}
