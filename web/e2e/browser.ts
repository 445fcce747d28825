// A browser whose pages may print no error and ask nobody but the server.
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

export const pictures = resolve(import.meta.dirname, '../../build/dashboard-screenshots');
const axe_source = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

export const openBrowser = (): Promise<Browser> =>
  chromium.launch({
    executablePath: process.env['CHROMIUM'] ?? '/usr/bin/chromium',
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });

const everything = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] };
/** What dark may spoil on a page that is right in light. */
const colours = { type: 'rule', values: ['color-contrast', 'link-in-text-block'] };

export const wide = { width: 1440, height: 900 };
export const narrow = { width: 390, height: 844 };
/** The smallest window that everything must work in. */
export const smallest = { width: 360, height: 640 };

/** One person's browser. `faults` is what went wrong in it. */
export class Person {
  readonly faults: string[] = [];

  private constructor(
    readonly context: BrowserContext,
    readonly page: Page,
    private readonly url: string,
  ) {}

  static async open(browser: Browser, url: string): Promise<Person> {
    const context = await browser.newContext({ viewport: wide, colorScheme: 'light', reducedMotion: 'reduce' });
    const person = new Person(context, await context.newPage(), url);
    person.watch(person.page);
    return person;
  }

  watch(page: Page): void {
    page.setDefaultTimeout(90_000); // against hanging only
    page.on('pageerror', (error) => this.faults.push(`page error: ${error.message}`));
    page.on('console', (message) => {
      // The first question of every page is who is signed in; a browser prints the answer "nobody" by itself.
      const nobody = message.location().url.endsWith('/api/v1/session') && message.text().includes('401');
      if (message.type() === 'error' && !nobody) this.faults.push(`console: ${message.text()} (${message.location().url})`);
    });
    page.on('request', (request) => {
      if (!request.url().startsWith(this.url) && !/^(data|blob):/.test(request.url())) this.faults.push(`asked ${request.url()}`);
    });
  }

  /** Of what went wrong the lines that the test meant to happen, as the browser prints them, are no faults. */
  forgive(meant: RegExp): void {
    this.faults.splice(0, this.faults.length, ...this.faults.filter((fault) => !meant.test(fault)));
  }

  /** The page as it looks: wide and narrow, light and dark, each without an offence against WCAG 2 A and AA that axe sees. */
  async look(name: string): Promise<void> {
    mkdirSync(pictures, { recursive: true });
    for (const scheme of ['light', 'dark'] as const) {
      await this.page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
      for (const size of [wide, narrow]) {
        await this.page.setViewportSize(size);
        // Virtual lists and charts measure once more. A page that draws no frame has nothing left to measure.
        await this.page.evaluate(() => new Promise((done) => (setTimeout(done, 2000), requestAnimationFrame(() => requestAnimationFrame(done)))));
        await this.page.screenshot({ path: join(pictures, `${name}-${size.width}-${scheme}.png`) });
        await this.expectNarrowEnough(`${name} at ${size.width}`);
        this.faults.push(...(await this.offences(`${name}, ${size.width}, ${scheme}`, scheme === 'light' ? everything : colours)));
      }
    }
    await this.page.setViewportSize(wide);
    await this.page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  }

  /** Nothing is wider than the window. */
  async expectNarrowEnough(name: string): Promise<void> {
    const over = await this.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
    if (over > 0) this.faults.push(`${name}: ${over} px wider than the window`);
  }

  private async offences(where: string, runOnly: object): Promise<string[]> {
    await this.page.evaluate(axe_source);
    return this.page.evaluate(async ({ at, only }) => {
      type Result = { violations: { id: string; help: string; nodes: { target: unknown[]; any: { message: string }[] }[] }[] };
      const { axe } = window as unknown as { axe: { run: (context: Document, options: object) => Promise<Result> } };
      const { violations } = await axe.run(document, { runOnly: only });
      return violations.flatMap((rule) => rule.nodes.slice(0, 3).map((node) => `axe at ${at}: ${rule.id}: ${String(node.target)}: ${node.any[0]?.message ?? rule.help}`));
    }, { at: where, only: runOnly });
  }
}
