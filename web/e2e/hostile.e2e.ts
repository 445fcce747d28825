// The review of a change that tries to look like another one.
import { join } from 'node:path';
import type { Browser, Locator } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, Person } from './browser';
import { makeShop } from './review-repository';
import { models, Server } from './server';

const server = new Server();
const shop = join(server.directory, 'shop');
let browser: Browser;
let ada: Person;

beforeAll(async () => {
  makeShop(shop);
  [browser] = await Promise.all([openBrowser(), server.start()]);
  ada = await Person.open(browser, server.url);
  await ada.page.goto(server.link);
  await ada.page.getByRole('heading', { name: 'No jobs yet' }).waitFor();
  const job = await ada.page.evaluate(
    async (body) => {
      const answer = await fetch('/api/v1/jobs', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
      return ((await answer.json()) as { id: string }).id;
    },
    { repository: shop, task: 'Look like something else', model: `scripted:${join(models, 'hostile.json')}` },
  );
  await ada.page.goto(`${server.url}/jobs/${job}/runs/1/changes`);
  await ada.page.locator('.job-words .chip', { hasText: 'Succeeded' }).waitFor();
  await ada.page.locator('.file-head').first().waitFor();
});
afterAll(async () => {
  await browser?.close();
  await server.stop();
  server.remove();
});

const file = (name: string): Locator => ada.page.locator('diffs-container', { has: ada.page.locator('.file-head', { hasText: name }) });
const row = (name: string): Locator => ada.page.getByRole('navigation', { name: 'Files' }).getByRole('button', { name });
async function open(name: string): Promise<Locator> {
  await row(name).click();
  await file(name).locator('.strip').first().waitFor();
  return file(name);
}

test('all lines of a file are there, however its text looks, and every file can be decided', async () => {
  const text = await open('text.py');
  await text.getByText('import evil').waitFor();
  await text.getByText('# note⟨U+2028⟩diff --git a/README.md').waitFor();
  expect(await row('README.md').count()).toBe(0);
  for (const name of ['bidi.py', 'crlf.txt', 'with space .txt', 'end⟨U+2028⟩of line.txt', 'same\\xff.txt', 'same\\xfe.txt', 'run.sh']) {
    const strip = (await open(name)).locator('.strip').first();
    await strip.getByRole('button', { name: 'Accept' }).waitFor();
  }
  expect(await ada.page.getByText('cannot be shown safely').count()).toBe(0);
});

test('what cannot be seen is marked, and CRLF only where it comes or goes', async () => {
  const bidi = await open('bidi.py');
  await bidi.getByText('⟨U+202E⟩ ⟨U+2066⟩// check').waitFor();
  await bidi.locator('.file-head .tag', { hasText: 'invisible characters: ⟨U+202E⟩' }).waitFor();
  await ada.look('review-hostile');
  expect(await (await open('crlf.txt')).locator('.file-head .tag', { hasText: 'invisible' }).count()).toBe(0);
  await row('cart.py').click();
  await file('cart.py').locator('.file-head .tag', { hasText: 'line ends: LF → CRLF' }).waitFor();
  expect(await ada.page.locator('.file-head .tag', { hasText: 'line ends' }).count()).toBe(1);
});

test('files whose names look the same are decided each by itself', async () => {
  await (await open('same\\xff.txt')).getByText('first').waitFor();
  const second = await open('same\\xfe.txt');
  await second.getByRole('button', { name: 'Accept', exact: true }).click();
  await ada.page.locator('.saving.saved').waitFor();
  await second.locator('.strip.accepted').waitFor();
  expect(await (await open('same\\xff.txt')).locator('.strip.accepted').count()).toBe(0);
});

test('a diff that does not agree with the review is not shown', async () => {
  const { page } = ada;
  await page.route(/\/review$/, async (route) => {
    const answer = await route.fetch();
    const review = (await answer.json()) as { files: { path: string; insertions: number }[] };
    for (const each of review.files) if (each.path === 'bidi.py') each.insertions += 1;
    await route.fulfill({ response: answer, json: review });
  });
  await page.reload();
  await row('bidi.py').click();
  const bidi = file('bidi.py');
  await bidi.getByText('This diff cannot be shown safely').waitFor();
  await bidi.getByRole('link', { name: 'Download the patch' }).waitFor();
  expect(await bidi.getByRole('button', { name: /Accept|Reject/ }).count()).toBe(0);
  await ada.look('review-unsafe');
  await page.unroute(/\/review$/);
});
