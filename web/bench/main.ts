// ./dev bench dashboard: the dashboard beside what it is built of, in one Chromium. Read the ratios: absolute times move with the machine.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import react from '@vitejs/plugin-react';
import { build } from 'vite';
import type { Browser, Page } from 'playwright-core';
import { openBrowser, wide } from '../e2e/browser';
import { pruned } from '../vite.config';
import { job_id, type Change } from './made';
import { addProbe, framesUntil, heap, paints, pressed, scrollFrames } from './probe';
import { at, head, lineText, type Line } from './samples';
import { MadeUpServer, type Scene } from './server';

const kRounds = Number(process.env['FORGE_BENCH_ROUNDS'] ?? 5);
const kScrolledFrames = 120;
const kEvents = 1000;
const kEventEach_ms = 5;
const kPatience_ms = 90_000;
const kClosing_ms = 10_000;

const what_is_bare = [
  'bare, of a diff: @pierre/diffs CodeView alone, with the same patch, options, theme, style sheets, grammars and two workers as the review; no tree, no heads, no verdicts, no review to ask for.',
  'bare, of a list: TanStack Virtual with the same rows as the dashboard, from the same pages of the same answers; no frame, filters, keys or news.',
  'plain text: the same with one line of text for each row, for comparison.',
  `Medians of ${kRounds}, alternating. Times are from the end of the first answer.`,
].join('\n');

const web = resolve(import.meta.dirname, '..');

type Side = { path: string; lines: string };
type Comparison = { name: string; scene: Scene; answer: string; height: number; step: number; ours: Side; bare: Side; goals?: { first: number; scroll: number } };

const of_diff = {
  answer: '/runs/1/diff', height: 100_000, step: 900,
  ours: { path: `/jobs/${job_id}/changes`, lines: '[data-line]' },
  bare: { path: '/bare/diff.html', lines: '[data-line]' },
};
const of_trace = {
  scene: { jobs: 1, turns: 3334, live: false }, answer: '/runs/1/trace', height: 13_336 * 28, step: 900,
  ours: { path: `/jobs/${job_id}/trace`, lines: '.tr' },
};
const of_jobs = {
  scene: { jobs: 5000, turns: 1, live: false }, answer: '/api/v1/jobs\\?', height: 5000 * 38, step: 900,
  ours: { path: '/', lines: '.job-row' },
};
const many: Change = { files: 2000, hunks: 1, lines: 10 };

const comparisons: Comparison[] = [
  { name: '20,000 lines of diff', scene: { jobs: 1, turns: 1, live: false, change: { files: 40, hunks: 25, lines: 20 } }, ...of_diff, goals: { first: 1.3, scroll: 1.2 } },
  { name: '2,000 changed files', scene: { jobs: 1, turns: 1, live: false, change: many }, ...of_diff, goals: { first: 2, scroll: 1.5 } },
  { name: '10,000 steps', ...of_trace, bare: { path: '/bare/trace.html', lines: '.tr' }, goals: { first: 2, scroll: 2 } },
  { name: '10,000 steps, plain text', ...of_trace, bare: { path: '/bare/list.html?of=trace', lines: '.row' } },
  { name: '5,000 jobs', ...of_jobs, bare: { path: '/bare/jobs.html', lines: '.job-row' }, goals: { first: 2, scroll: 2 } },
  { name: '5,000 jobs, plain text', ...of_jobs, bare: { path: '/bare/list.html?of=jobs', lines: '.row' } },
];

type Measured = { first: number[]; whole: number[]; scroll: number[]; heap: number[] };
const nothing = (): Measured => ({ first: [], whole: [], scroll: [], heap: [] });

/** What never comes to an end fails alone. */
async function inTime<T>(body: Promise<T>, what: string, limit_ms = kPatience_ms): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, failed) => (timer = setTimeout(() => failed(new Error(`${what} did not come to an end in ${limit_ms / 1000} s`)), limit_ms)));
  return Promise.race([body, late]).finally(() => clearTimeout(timer));
}

/** A page that hangs may not even be closed; the browser's end takes it along. */
const shut = (closing: Promise<void> | undefined, what: string) => inTime(closing ?? Promise.resolve(), what, kClosing_ms).catch((error: unknown) => console.error(String(error)));

async function inPage<T>(browser: Browser, address: string, body: (page: Page) => Promise<T>): Promise<T> {
  const context = await inTime(browser.newContext({ viewport: wide, colorScheme: 'light', reducedMotion: 'reduce' }), 'a new window');
  try {
    const page = await inTime(context.newPage(), 'a new page');
    page.setDefaultTimeout(kPatience_ms);
    page.on('pageerror', (error) => console.error(`${address}: ${error.message}`));
    await addProbe(page);
    await page.goto(address, { waitUntil: 'commit' });
    return await inTime(body(page), address);
  } finally {
    await shut(context.close(), `closing ${address}`);
  }
}

const measure = (browser: Browser, url: string, { answer, height, step }: Comparison, side: Side, into: Measured): Promise<void> =>
  inPage(browser, url + side.path, async (page) => {
    const seen = await paints(page, { lines: side.lines, answer, height });
    into.first.push(seen.first_ms);
    into.whole.push(seen.whole_ms);
    if (Number.isNaN(seen.first_ms)) throw new Error(`${side.path} showed no lines`);
    into.heap.push(await heap(page));
    into.scroll.push(at(await scrollFrames(page, side.lines, step, kScrolledFrames), 0.95));
  });

async function compare(browser: Browser, server: MadeUpServer, url: string, comparison: Comparison): Promise<Line[]> {
  const [ours, bare] = [nothing(), nothing()];
  server.show(comparison.scene);
  for (let round = 0; round < kRounds; ++round) {
    await measure(browser, url, comparison, comparison.bare, bare);
    await measure(browser, url, comparison, comparison.ours, ours);
  }
  const { name, goals } = comparison;
  return [
    { what: `${name}: first paint`, unit: 'ms', ours: ours.first, bare: bare.first, ...(goals && { goal: { ratio: goals.first } }) },
    { what: `${name}: all there`, unit: 'ms', ours: ours.whole, bare: bare.whole },
    { what: `${name}: frame while scrolling, p95`, unit: 'ms', ours: ours.scroll, bare: bare.scroll, ...(goals && { goal: { ratio: goals.scroll } }) },
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

/** How long the window stands still for one verdict, among many files. */
async function verdict(browser: Browser, server: MadeUpServer, url: string): Promise<Line[]> {
  const taken: number[] = [];
  server.show({ jobs: 1, turns: 1, live: false, change: many });
  await inPage(browser, url + of_diff.ours.path, async (page) => {
    await page.locator('.strip').first().waitFor();
    for (let round = 0; round < kRounds; ++round) {
      // Few are in view at once.
      await page.keyboard.press('n');
      await page.locator('.strip.current.open').waitFor();
      taken.push(await pressed(page, '.strip.current .yes', '.strip.current.accepted'));
      await page.locator('.saving.saved').waitFor();
    }
  });
  return [{ what: 'one verdict of 2,000: until it is seen', unit: 'ms', ours: taken, goal: { most: 100 } }];
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
    const pages = ['diff', 'list', 'trace', 'jobs'].map((name) => join(web, `bench/pages/${name}.html`));
    const building = build({ root: join(web, 'bench/pages'), base: '/bare/', logLevel: 'error', configFile: false, plugins: [pruned('grammars'), react()], worker: { format: 'es', plugins: () => [pruned('unused')] }, build: { outDir: bare, emptyOutDir: true, target: 'es2022', rolldownOptions: { input: pages, checks: { pluginTimings: false } } } });
    await inTime(building, 'building the bare pages');
    const url = await server.start();
    browser = await inTime(openBrowser(), 'starting Chromium');
    console.log(what_is_bare);
    console.log(head);
    for (const comparison of comparisons.filter(({ name }) => !only.length || only.some((word) => name.includes(word))))
      await print(comparison.name, compare(browser, server, url, comparison));
    const wanted = (word: string) => !only.length || only.includes(word);
    if (wanted('verdict')) await print('verdict', verdict(browser, server, url));
    if (wanted('live')) await print('live', live(browser, server, url));
  } finally {
    await shut(browser?.close(), 'closing Chromium');
    server.stop();
    rmSync(bare, { recursive: true, force: true });
  }
}

await main(process.argv.slice(2));
