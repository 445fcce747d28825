// The review in a real browser over the real server, with two people. The tests build on one another, in their order.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import type { Browser, Locator, Page, Route } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, Person } from './browser';
import { makeShop } from './review-repository';
import { models, Server } from './server';

const server = new Server();
const shop = join(server.directory, 'shop');
let browser: Browser;
let ada: Person;
let bob: Person;
let job: string;

beforeAll(async () => {
  makeShop(shop);
  [browser] = await Promise.all([openBrowser(), server.start()]);
  [ada, bob] = await Promise.all([Person.open(browser, server.url), Person.open(browser, server.url)]);
  await ada.page.goto(server.link);
  await ada.page.getByRole('heading', { name: 'No jobs yet' }).waitFor();
  await signIn(bob, 'reviewer');
  job = await createJob(ada.page);
});
afterAll(async () => {
  await browser?.close();
  await server.stop();
  server.remove();
});

async function signIn({ page }: Person, role: string): Promise<void> {
  await page.goto(server.url);
  await page.getByLabel('Token').fill(server.token(role));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.stream.live').waitFor();
}

const createJob = (page: Page): Promise<string> =>
  page.evaluate(
    async (body) => {
      const answer = await fetch('/api/v1/jobs', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(body) });
      return ((await answer.json()) as { id: string }).id;
    },
    { repository: shop, task: 'Add discounts and receipts to the shop', model: `scripted:${join(models, 'review.json')}` },
  );

function expectNoFaults(...people: Person[]): void {
  expect(people.flatMap((person) => person.faults.splice(0))).toEqual([]);
}

const review = (run: number) => `${server.url}/jobs/${job}/runs/${run}/changes`;
const file = (page: Page, name: string): Locator => page.locator('diffs-container', { has: page.locator('.file-head', { hasText: name }) });
const strip = (page: Page, name: string, n: number): Locator => file(page, name).locator('.strip').nth(n);
const pick = (page: Page, name: string) => page.getByRole('navigation', { name: 'Files' }).getByRole('button', { name }).click();
const decided = (page: Page, words: string) => page.locator('.progress-words').filter({ hasText: words }).waitFor();
const saved = (page: Page) => page.locator('.saving.saved').waitFor();
const git = (...words: string[]) => execFileSync('git', ['-C', shop, ...words], { encoding: 'utf8' });

/** Holds the requests that match until it is released; then they go on. */
async function hold(page: Page, url: RegExp, method: string): Promise<{ held: Promise<void>; release: () => void }> {
  let release = () => {};
  let caught = () => {};
  const gate = new Promise<void>((done) => (release = done));
  const held = new Promise<void>((done) => (caught = done));
  await page.route(url, async (route: Route) => {
    if (route.request().method() === method) {
      caught();
      await gate;
    }
    await route.continue();
  });
  return { held, release };
}

test('a run is shown by file, with pictures, renames, and lock files folded', async () => {
  const { page } = ada;
  await page.goto(review(1));
  await page.locator('.job-words .chip', { hasText: 'To review' }).waitFor();
  await decided(page, '0 of 10');
  for (const name of ['logo.png', 'history.md', 'package-lock.json', 'cart.py', 'receipt.py', 'words.py']) await page.getByRole('navigation', { name: 'Files' }).getByRole('button', { name }).waitFor();
  await file(page, 'logo.png').getByText('24 × 24').nth(1).waitFor();
  await file(page, 'package-lock.json').getByText('lock file').waitFor();
  expect(await strip(page, 'package-lock.json', 0).isVisible()).toBe(false);
  await file(page, 'history.md').getByText('Deleted file').waitFor();
  await ada.look('review');
  await pick(page, 'words.py');
  await file(page, 'words.py').getByText('Renamed from shop/text.py').waitFor();
  expectNoFaults(ada);
});

test('lines around a hunk are shown on demand, also by keyboard', async () => {
  const { page } = ada;
  await pick(page, 'cart.py');
  const cart = file(page, 'cart.py');
  expect(await cart.getByText('class Line:').count()).toBe(0);
  await cart.getByRole('button', { name: 'Show more lines above' }).first().focus();
  await page.keyboard.press('Enter');
  await cart.getByText('class Line:').waitFor();
  expectNoFaults(ada);
});

test('the diff is shown side by side, and without white space, where no verdicts are given', async () => {
  const { page } = ada;
  await page.keyboard.press('s');
  await file(page, 'cart.py').locator('[data-diff-type=split]').waitFor();
  await ada.look('review-split');
  await page.keyboard.press('s');
  await page.keyboard.press('w');
  await page.getByText('verdicts are given on the real lines').waitFor();
  expect(await page.locator('.strip').count()).toBe(0);
  await pick(page, 'cart.py');
  expect(await file(page, 'cart.py').getByText('"DK"').count()).toBe(0);
  await page.getByRole('button', { name: 'Show white space' }).click();
  await page.locator('.strip').first().waitFor();
  expectNoFaults(ada);
});

test('hunks are decided by keyboard, and the next undecided one is found', async () => {
  const { page } = ada;
  await page.keyboard.press('n');
  await page.locator('.strip.current', { hasText: 'Changed content' }).waitFor();
  await page.keyboard.press('a');
  await page.locator('.strip.current', { hasText: 'Deleted file' }).waitFor();
  await decided(page, '1 of 10');
  await page.keyboard.press('k');
  await page.locator('.strip.current.accepted').waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('r');
  await page.keyboard.type('People read the history.');
  await page.keyboard.press('Enter');
  await strip(page, 'history.md', 0).getByText('People read the history.').waitFor();
  await page.keyboard.press('n');
  await file(page, 'package-lock.json').locator('.file-head.folded').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Accept all of package-lock.json' }).click();
  await decided(page, '3 of 10');
  await saved(page);
  await page.reload();
  await decided(page, '3 of 10');
  expectNoFaults(ada);
});

test('a decision that could not be saved is still there after a look at another page', async () => {
  const { page } = ada;
  const away = (route: Route) => (route.request().method() === 'PATCH' ? route.abort() : route.continue());
  await page.route(/\/review$/, away);
  await pick(page, 'words.py');
  await strip(page, 'words.py', 0).getByRole('button', { name: 'Accept' }).click();
  await page.locator('.saving.failed').waitFor();
  await page.locator('.toast', { hasText: 'are not saved' }).waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('heading', { name: 'Summary' }).waitFor();
  await page.getByRole('link', { name: /^Changes/ }).click();
  await decided(page, '4 of 10');
  await page.locator('.saving.failed').waitFor();
  await page.unroute(/\/review$/, away);
  await page.locator('.saving.failed').getByRole('button').click();
  await saved(page);
  expect(await page.locator('.toast', { hasText: 'are not saved' }).count()).toBe(0);
  await page.reload();
  await decided(page, '4 of 10');
  await pick(page, 'words.py');
  await strip(page, 'words.py', 0).getByRole('button', { name: 'Accept' }).click();
  await decided(page, '3 of 10');
  await saved(page);
  ada.forgive(/ERR_FAILED/);
  expectNoFaults(ada);
});

test('what is being typed survives a reload, and a draft is its author’s alone', async () => {
  const { page } = ada;
  await pick(page, 'cart.py');
  await strip(page, 'cart.py', 0).getByRole('button', { name: 'Reject' }).click();
  await page.keyboard.type('Cents are whole: round down.');
  await page.keyboard.press('Enter');
  await page.keyboard.press('c');
  await page.getByLabel('Comment on lines 25 to 28').fill('Is `percent` a whole number?');
  await saved(page);
  await page.reload();
  await pick(page, 'cart.py');
  expect(await page.getByLabel('Comment on lines 25 to 28').inputValue()).toBe('Is `percent` a whole number?');
  await page.getByRole('button', { name: 'Save as draft' }).click();
  await page.locator('.comment.draft').waitFor();
  await bob.page.goto(review(1));
  await decided(bob.page, '4 of 10');
  await pick(bob.page, 'cart.py');
  await strip(bob.page, 'cart.py', 0).getByText('Cents are whole: round down.').waitFor();
  expect(await bob.page.locator('.comment').count()).toBe(0);
  await ada.look('review-comment');
  expectNoFaults(ada, bob);
});

test('lines are commented on by their numbers, with other lines suggested', async () => {
  const { page } = bob;
  const line = file(page, 'cart.py').locator('[data-column-number]').filter({ hasText: /^54$/ }).last();
  await strip(page, 'cart.py', 2).scrollIntoViewIfNeeded();
  await line.click();
  await page.keyboard.press('c');
  const field = page.getByLabel('Comment on line 54');
  await field.fill('The sign says 49.');
  await page.getByRole('button', { name: 'Suggest other lines' }).click();
  const lines = page.getByLabel('Lines in place of these');
  expect(await lines.inputValue()).toBe('    if cart.total() >= 4900:');
  await lines.fill('    if cart.total() > 4900:');
  await page.getByRole('button', { name: 'Comment', exact: true }).last().click();
  await page.locator('.suggestion-new').getByText('> 4900').waitFor();
  await pick(ada.page, 'cart.py');
  await strip(ada.page, 'cart.py', 2).scrollIntoViewIfNeeded();
  await ada.page.locator('.comment').getByText('The sign says 49.').waitFor();
  expectNoFaults(ada, bob);
});

test('two people decide at once: what the other did not touch is saved by itself, and theirs stands where both decided', async () => {
  const patch = await hold(ada.page, /\/review$/, 'PATCH');
  await strip(ada.page, 'cart.py', 1).getByRole('button', { name: 'Accept' }).click();
  await patch.held;
  await strip(ada.page, 'cart.py', 2).getByRole('button', { name: 'Accept' }).click();
  await strip(bob.page, 'cart.py', 1).getByRole('button', { name: 'Reject' }).click();
  await bob.page.keyboard.type('Only white space.');
  await bob.page.keyboard.press('Enter');
  await strip(bob.page, 'cart.py', 1).getByText('Only white space.').waitFor();
  await saved(bob.page);
  patch.release();
  await ada.page.locator('.toast', { hasText: 'had been decided meanwhile' }).waitFor();
  await strip(ada.page, 'cart.py', 1).getByText('by reviewer').waitFor();
  await saved(ada.page);
  await strip(bob.page, 'cart.py', 2).getByText('Accepted').waitFor();
  await decided(bob.page, '6 of 10');
  // The browser prints a 412 by itself.
  ada.faults.splice(0, ada.faults.length, ...ada.faults.filter((fault) => !fault.includes('412')));
  expectNoFaults(ada, bob);
});

test('a decision that cannot be saved says so, and is saved when it is tried again', async () => {
  const { page } = bob;
  await page.route(/\/review$/, (route) => (route.request().method() === 'PATCH' ? route.abort() : route.continue()));
  await strip(page, 'cart.py', 3).getByRole('button', { name: 'Accept' }).click();
  await page.locator('.saving.failed').waitFor();
  await strip(page, 'cart.py', 3).getByText('Accepted').waitFor();
  await page.unroute(/\/review$/);
  await page.getByRole('button', { name: 'Try again' }).click();
  await saved(page);
  await strip(ada.page, 'cart.py', 3).getByText('by reviewer').waitFor({ state: 'attached' });
  bob.faults.splice(0, bob.faults.length, ...bob.faults.filter((fault) => !fault.includes('ERR_FAILED'))); // as the browser prints it
  expectNoFaults(ada, bob);
});

test('nothing is applied while what was decided is not saved', async () => {
  const { page } = ada;
  const applied: string[] = [];
  page.on('request', (request) => request.url().endsWith('/apply') && applied.push(request.url()));
  let answer = () => {};
  const gate = new Promise<void>((done) => (answer = done));
  await page.route(/\/review$/, async (route) => {
    if (route.request().method() !== 'PATCH') return route.continue();
    await gate;
    await route.fulfill({ status: 400, json: { error: { code: 'bad_input', message: 'no such reason', field: 'verdicts[0].reason' } } });
  });
  const third = strip(page, 'cart.py', 2);
  await third.scrollIntoViewIfNeeded();
  await third.getByRole('button', { name: 'Reject' }).click();
  await third.locator('.strip-reason').waitFor();
  await page.getByRole('button', { name: 'Apply', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('3 accepted').waitFor();
  await dialog.getByLabel('Leave out 3 changes that nobody has decided').check();
  await dialog.getByRole('button', { name: 'Apply 3 changes' }).click();
  answer();
  await dialog.getByText('The server refused something that you decided.').waitFor();
  await dialog.getByText('4 accepted').waitFor();
  expect(await dialog.getByRole('button', { name: 'Apply 4 changes' }).isDisabled()).toBe(true);
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  expect(await page.getByRole('button', { name: 'Apply', exact: true }).isDisabled()).toBe(true);
  await page.unroute(/\/review$/);
  await page.getByRole('button', { name: 'Go on without' }).click();
  await third.getByText('Accepted').waitFor();
  await saved(page);
  expect(applied).toEqual([]);
  ada.forgive(/400/);
  expectNoFaults(ada);
});

test('a viewed file folds, and is marked in the tree', async () => {
  const { page } = ada;
  await pick(page, 'receipt.py');
  await file(page, 'receipt.py').getByRole('checkbox').check();
  await page.getByRole('navigation', { name: 'Files' }).getByRole('button', { name: /receipt\.py.*viewed/ }).waitFor();
  await file(page, 'receipt.py').locator('.file-head.folded').waitFor();
  await saved(page);
  await page.reload();
  await pick(page, 'receipt.py');
  await file(page, 'receipt.py').locator('.file-head.folded').waitFor();
  await page.getByLabel('Search the files').fill('words');
  await expect.poll(() => page.locator('.files li').allInnerTexts(), { timeout: 60_000 }).toEqual(['shop', expect.stringContaining('words.py')]);
  await page.getByLabel('Search the files').fill('');
  expectNoFaults(ada);
});

test('a phone shows the review too, with the files in a drawer', async () => {
  const { page } = ada;
  await page.setViewportSize({ width: 360, height: 740 });
  await page.getByRole('button', { name: 'Files', exact: true }).click();
  await pick(page, 'cart.py');
  await page.locator('.drawer-open').waitFor({ state: 'detached' });
  await strip(page, 'cart.py', 0).waitFor();
  expect(await page.evaluate(() => document.documentElement.scrollWidth - window.innerWidth)).toBe(0);
  const right = await strip(page, 'cart.py', 0).evaluate((node) => node.getBoundingClientRect().right);
  expect(right).toBeLessThanOrEqual(360);
  await page.setViewportSize({ width: 1440, height: 900 });
  expectNoFaults(ada);
});

test('a reviewer decides and neither applies nor sends back; a viewer only reads', async () => {
  expect(await bob.page.getByRole('toolbar', { name: 'Review' }).getByRole('button', { name: /^(Apply|Send back)$/ }).count()).toBe(0);
  const vera = await Person.open(browser, server.url);
  await signIn(vera, 'viewer');
  await vera.page.goto(review(1));
  await decided(vera.page, '7 of 10');
  await vera.page.locator('.strip').first().waitFor();
  expect(await vera.page.locator('.strip button, .file-head input, .writing').count()).toBe(0);
  expectNoFaults(vera, bob);
  await vera.context.close();
});

test('what is accepted becomes a commit, after a look at it', async () => {
  const { page } = ada;
  await page.getByRole('button', { name: 'Apply', exact: true }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('4 accepted').waitFor();
  expect(await dialog.getByRole('list', { name: 'What goes in' }).getByRole('listitem').allInnerTexts()).toEqual([
    expect.stringContaining('assets/logo.png'),
    expect.stringContaining('package-lock.json'),
    expect.stringContaining('shop/cart.py'),
  ]);
  const button = dialog.getByRole('button', { name: 'Apply 4 changes' });
  expect(await button.isDisabled()).toBe(true);
  await dialog.getByLabel('Leave out 3 changes that nobody has decided').check();
  await dialog.getByLabel('Commit message').fill('Free shipping from 49.00\n\nAnd a green logo.');
  await ada.look('review-apply');
  await button.click();
  await dialog.getByText(/git fetch origin forge\/\S+-1-accepted/).waitFor();
  const branch = (await dialog.getByText(/git fetch origin/).innerText()).split(' ')[3]!;
  expect(git('log', '-1', '--format=%s', branch).trim()).toBe('Free shipping from 49.00');
  expect(git('show', `${branch}:shop/cart.py`)).toContain('cart.total() >= 4900');
  expect(git('ls-tree', '--name-only', branch, 'docs/')).toContain('docs/history.md');
  await dialog.getByRole('button', { name: 'Done' }).click();
  await page.locator('.job-words .chip', { hasText: 'Applied' }).waitFor();
  expectNoFaults(ada);
});

test('a review is sent back, and leads to the next run', async () => {
  const { page } = ada;
  await page.getByRole('button', { name: 'Send back' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText('3 changes rejected').waitFor();
  await dialog.getByText('Cents are whole: round down.').waitFor();
  await dialog.getByText('with 1 draft of yours').waitFor();
  await dialog.getByLabel('Note').fill('Nearly there.');
  await ada.look('review-send-back');
  await dialog.getByRole('button', { name: 'Send back' }).click();
  await page.waitForURL(/\/runs\/2\/trace/);
  await page.locator('.job-words .chip', { hasText: 'Succeeded' }).waitFor();
  await bob.page.locator('.comment').getByText('Is percent a whole number?').first().waitFor({ state: 'attached' });
  expectNoFaults(ada, bob);
});

test('the next review knows what was decided, and shows what is new', async () => {
  const { page } = ada;
  await page.getByRole('link', { name: /^Changes/ }).click();
  await page.getByText('changed since').first().waitFor();
  await pick(page, 'cart.py');
  await strip(page, 'cart.py', 0).getByText('Changed since it was rejected').waitFor();
  await strip(page, 'cart.py', 0).getByText('new in this run').waitFor();
  await strip(page, 'cart.py', 2).getByText('in run 1, unchanged since').waitFor();
  await ada.look('review-second');
  await page.getByLabel('Compare with').selectOption('1');
  await page.getByText('What run 2 did on top of run 1').waitFor();
  await file(page, 'cart.py').getByText('print(out)  # for debugging').waitFor();
  expect(await page.locator('.strip').count()).toBe(0);
  await ada.look('review-since');
  await page.getByRole('button', { name: 'Decide the 2 hunks that are new' }).click();
  await expect.poll(() => page.locator('.files li').allInnerTexts(), { timeout: 60_000 }).toEqual(['shop', expect.stringContaining('cart.py')]);
  await page.keyboard.press('n');
  await page.locator('.strip.current', { hasText: 'Changed since' }).waitFor();
  expectNoFaults(ada);
});

test('commands and patches take the result elsewhere, and a run is put aside', async () => {
  const { page } = ada;
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Commands to fetch it' }).click();
  await page.getByText(/^git fetch origin forge\/\S+-2 /).waitFor();
  await ada.look('review-fetch');
  await page.keyboard.press('Escape');
  await page.getByRole('button', { name: 'More', exact: true }).click();
  const [download] = await Promise.all([page.waitForEvent('download'), page.getByRole('menuitem', { name: 'Download all as a patch' }).click()]);
  expect(download.suggestedFilename()).toMatch(/\.patch$/);
  await page.getByRole('button', { name: 'More', exact: true }).click();
  await page.getByRole('menuitem', { name: 'Dismiss' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Dismiss' }).click();
  await page.locator('.job-words .chip', { hasText: 'Dismissed' }).waitFor();
  expectNoFaults(ada);
});

test('the keys of the review are shown, without those that they take the place of', async () => {
  const { page } = ada;
  await page.keyboard.press('?');
  const dialog = page.getByRole('dialog');
  await dialog.getByText('Reject, and say why').waitFor();
  expect(await dialog.getByText('Retry').count()).toBe(0);
  await page.keyboard.press('Escape');
  expectNoFaults(ada);
});
