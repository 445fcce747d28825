// ./dev bench dashboard: the dashboard beside what it is built of, in one Chromium. Read the ratios: absolute times move with the machine.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { build } from 'vite';
import type { Browser, Page } from 'playwright-core';
import { openBrowser, wide } from '../e2e/browser';
import { job_id } from './made';
import { addProbe, framesUntil, heap, paints, scrollFrames } from './probe';
import { at, head, lineText, type Line } from './samples';
import { MadeUpServer, type Scene } from './server';

const kRounds = 5;
const kScrolledFrames = 120;
const kEvents = 1000;
const kEventEach_ms = 5;
const kPatience_ms = 60_000;

const web = resolve(import.meta.dirname, '..');

type Side = { path: string; lines: string };
type Comparison = { name: string; scene: Scene; answer: string; height: number; step: number; ours: Side; bare: Side; goals: { first: number; scroll: number } };

const comparisons: Comparison[] = [
  {
    name: '20,000 lines of diff', scene: { jobs: 1, turns: 1, live: false }, answer: '/runs/1/diff', height: 100_000, step: 900,
    ours: { path: `/jobs/${job_id}/changes`, lines: '[data-line]' },
    bare: { path: '/bare/diff.html', lines: '[data-line]' },
    goals: { first: 1.3, scroll: 1.2 },
  },
  {
    name: '10,000 steps of trace', scene: { jobs: 1, turns: 3334, live: false }, answer: '/runs/1/trace', height: 13_336 * 28, step: 900,
    ours: { path: `/jobs/${job_id}/trace`, lines: '.tr' },
    bare: { path: '/bare/list.html?of=trace', lines: '.row' },
    goals: { first: 2, scroll: 2 },
  },
  {
    name: '5,000 jobs', scene: { jobs: 5000, turns: 1, live: false }, answer: '/api/v1/jobs\\?', height: 5000 * 38, step: 900,
    ours: { path: '/', lines: '.job-row' },
    bare: { path: '/bare/list.html?of=jobs', lines: '.row' },
    goals: { first: 2, scroll: 2 },
  },
];

type Measured = { first: number[]; whole: number[]; scroll: number[]; heap: number[] };
const nothing = (): Measured => ({ first: [], whole: [], scroll: [], heap: [] });

/** A page that never gets there fails alone. */
async function inTime<T>(body: Promise<T>, address: string): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, failed) => (timer = setTimeout(() => failed(new Error(`${address} did not come to an end`)), kPatience_ms)));
  return Promise.race([body, late]).finally(() => clearTimeout(timer));
}

async function inPage<T>(browser: Browser, address: string, body: (page: Page) => Promise<T>): Promise<T> {
  const context = await browser.newContext({ viewport: wide });
  try {
    const page = await context.newPage();
    page.on('pageerror', (error) => console.error(`${address}: ${error.message}`));
    await addProbe(page);
    await page.goto(address, { waitUntil: 'commit' });
    return await inTime(body(page), address);
  } finally {
    await context.close();
  }
}

const measure = (browser: Browser, url: string, { answer, height, step }: Comparison, side: Side, into: Measured): Promise<void> =>
  inPage(browser, url + side.path, async (page) => {
    const seen = await paints(page, { lines: side.lines, answer, height });
    into.first.push(seen.first_ms);
    into.whole.push(seen.whole_ms);
    if (Number.isNaN(seen.first_ms)) return; // there is no such page, and nothing to scroll
    into.heap.push(await heap(page));
    into.scroll.push(at(await scrollFrames(page, side.lines, step, kScrolledFrames), 0.95));
  });

async function compare(browser: Browser, server: MadeUpServer, url: string, comparison: Comparison): Promise<Line[]> {
  const [ours, bare] = [nothing(), nothing()];
  server.show(comparison.scene);
  for (let round = 0; round < kRounds; ++round) {
    await measure(browser, url, comparison, comparison.bare, bare);
    if (!ours.first.some(Number.isNaN)) await measure(browser, url, comparison, comparison.ours, ours);
  }
  const { name, goals } = comparison;
  return [
    { what: `${name}: first paint`, unit: 'ms', ours: ours.first, bare: bare.first, goal: { ratio: goals.first } },
    { what: `${name}: all there`, unit: 'ms', ours: ours.whole, bare: bare.whole },
    { what: `${name}: frame while scrolling, p95`, unit: 'ms', ours: ours.scroll, bare: bare.scroll, goal: { ratio: goals.scroll } },
    { what: `${name}: JS heap`, unit: 'MiB', ours: ours.heap, bare: bare.heap },
  ];
}

/** A run that tells 200 events a second for five seconds, followed. */
async function live(browser: Browser, server: MadeUpServer, url: string): Promise<Line[]> {
  const longest: number[] = [];
  const sizes: number[] = [];
  for (let round = 0; round < kRounds; ++round) {
    server.show({ jobs: 1, turns: 400, live: true });
    await inPage(browser, `${url}/jobs/${job_id}/trace`, async (page) => {
      await page.locator('.tr').first().waitFor();
      await page.locator('.stream.live').waitFor();
      longest.push(Math.max(...(await framesUntil(page, server.tell(kEvents, kEventEach_ms)))));
      sizes.push(await heap(page));
    });
  }
  return [
    { what: 'live, 200 events/s: longest frame', unit: 'ms', ours: longest, goal: { most: 100 } },
    { what: 'live, 200 events/s: JS heap', unit: 'MiB', ours: sizes },
  ];
}

async function print(name: string, lines: Promise<Line[]>): Promise<void> {
  try {
    for (const line of await lines) console.log(lineText(line));
  } catch (error) {
    console.log(`${name}: could not be measured: ${error instanceof Error ? error.message : String(error)}`);
    process.exitCode = 1;
  }
}

async function main(only: string[]): Promise<void> {
  const bare = mkdtempSync(join(tmpdir(), 'forge-bare-'));
  const server = new MadeUpServer(process.env['FORGE_WEB_DIST'] ?? join(web, 'dist'), bare);
  let browser: Browser | undefined;
  try {
    const pages = ['diff', 'list'].map((name) => join(web, `bench/pages/${name}.html`));
    await build({ root: join(web, 'bench/pages'), base: '/bare/', logLevel: 'error', configFile: false, build: { outDir: bare, emptyOutDir: true, target: 'es2022', rolldownOptions: { input: pages, checks: { pluginTimings: false } } } });
    const url = await server.start();
    browser = await openBrowser();
    console.log(head);
    for (const comparison of comparisons.filter(({ name }) => !only.length || only.some((word) => name.includes(word))))
      await print(comparison.name, compare(browser, server, url, comparison));
    if (!only.length || only.includes('live')) await print('live', live(browser, server, url));
  } finally {
    await browser?.close();
    server.stop();
    rmSync(bare, { recursive: true, force: true });
  }
}

await main(process.argv.slice(2));
