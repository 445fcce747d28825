// A browser whose pages may print no error and ask nobody but the server.
import { mkdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { chromium, type Browser, type BrowserContext, type Page } from 'playwright-core';

const pictures = resolve(import.meta.dirname, '../../build/dashboard-screenshots');
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

export const wide = { width: 1440, height: 900 };
export const narrow = { width: 390, height: 844 };

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

  /** The page as it looks: wide and narrow, light and dark, each without an offence against WCAG 2 A and AA that axe sees. */
  async look(name: string): Promise<void> {
    mkdirSync(pictures, { recursive: true });
    for (const scheme of ['light', 'dark'] as const) {
      await this.page.emulateMedia({ colorScheme: scheme, reducedMotion: 'reduce' });
      for (const size of [wide, narrow]) {
        await this.page.setViewportSize(size);
        // Virtual lists and charts measure once more.
        await this.page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));
        await this.page.screenshot({ path: join(pictures, `${name}-${size.width}-${scheme}.png`) });
        const over = await this.page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth);
        if (over > 0) this.faults.push(`${name} at ${size.width}: ${over} px wider than the window`);
      }
      await this.page.setViewportSize(wide);
      this.faults.push(...(await this.offences(`${name}, ${scheme}`)));
    }
    await this.page.emulateMedia({ colorScheme: 'light', reducedMotion: 'reduce' });
  }

  private async offences(where: string): Promise<string[]> {
    await this.page.evaluate(axe_source);
    return this.page.evaluate(async (at) => {
      type Result = { violations: { id: string; help: string; nodes: { target: unknown[]; any: { message: string }[] }[] }[] };
      const { axe } = window as unknown as { axe: { run: (context: Document, options: object) => Promise<Result> } };
      const { violations } = await axe.run(document, { runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] });
      return violations.flatMap((rule) => rule.nodes.slice(0, 3).map((node) => `axe at ${at}: ${rule.id}: ${String(node.target)}: ${node.any[0]?.message ?? rule.help}`));
    }, where);
  }
}
