// What somebody typed or decided and the server does not have yet: other pages, other people and the end of a session lose nothing of it.
import type { Page, Route } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { enter, expectNoFaults, signIn, stage } from './acts';
import { smallest, wide, type Person } from './browser';

const on = stage();
let job = '';
let bob: Person;

beforeAll(async () => {
  job = await on.server.create({ task: 'Repair the tests' });
  await enter(on);
  await on.ada.page.locator('.job-row', { hasText: 'Repair the tests' }).getByText('Review').waitFor();
  bob = await on.visitor();
  await signIn(bob, on.server.url, on.server.token('reviewer', 'bob'));
});

const away = (route: Route) => (route.request().method() === 'PATCH' ? route.abort() : route.continue());
const strip = (page: Page) => page.locator('.strip').first();
const sign = (page: Page) => page.locator('.unsaved-sign');
const menu = async (page: Page, item: string) => {
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitem', { name: item }).click();
};

async function decideInVain(page: Page): Promise<void> {
  await page.goto(`${on.server.url}/jobs/${job}/runs/1/changes`);
  await strip(page).getByRole('button', { name: 'Accept' }).waitFor();
  await page.route(/\/review$/, away);
  await strip(page).getByRole('button', { name: 'Accept' }).click();
  await sign(page).waitFor();
}

test('the head of every page says what is not saved, and leads there', async () => {
  const { page } = bob;
  await decideInVain(page);
  await page.getByRole('link', { name: 'Forge: all jobs' }).click();
  await page.locator('.job-row').first().waitFor();
  await sign(page).click();
  await bob.look('unsaved');
  await page.setViewportSize(smallest);
  await bob.expectNarrowEnough('unsaved');
  await page.setViewportSize(wide);
  await page.getByRole('dialog').getByRole('link', { name: 'Repair the tests, run 1' }).click();
  await page.locator('.strip.accepted').waitFor();
  bob.forgive(/ERR_FAILED/);
  expectNoFaults(bob);
});

test('who signs out is asked about it first, and is signed out then', async () => {
  const { page } = bob;
  await menu(page, 'Sign out');
  await page.getByRole('dialog').getByText('Not everything that you decided is saved.').waitFor();
  await page.getByRole('button', { name: 'Back' }).click();
  await page.locator('.strip.accepted').waitFor();
  await menu(page, 'Sign out');
  await page.getByRole('button', { name: 'Sign out anyway' }).click();
  await page.getByLabel('Token').waitFor();
  expectNoFaults(bob);
});

test('who comes after them neither saves nor keeps what was theirs', async () => {
  const { page } = bob;
  await signIn(bob, on.server.url, on.server.token('reviewer', 'bob2'));
  await decideInVain(page);
  // Somebody else signs in in another tab of the same browser.
  const other = await bob.context.newPage();
  await other.goto(on.server.url);
  await other.locator('.job-row').first().waitFor();
  await other.evaluate((token) => fetch('/api/v1/session', { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ token }) }), on.server.token('operator', 'eve'));
  await other.reload();
  await page.getByRole('button', { name: 'Account: eve' }).waitFor();
  await page.locator('.strip.open').first().waitFor();
  await sign(page).click();
  await page.getByText('Repair the tests, run 1, by bob2').waitFor();
  await page.keyboard.press('Escape');
  await page.unroute(/\/review$/, away);
  await page.getByRole('link', { name: 'Forge: all jobs' }).click();
  await sign(page).click();
  await page.getByRole('button', { name: 'Discard' }).click();
  await sign(page).waitFor({ state: 'detached' });
  await other.close();
  bob.forgive(/ERR_FAILED|401/);
  expectNoFaults(bob);
});

test('what was typed into the form of a new job is there after a look at another page', async () => {
  const { page } = on.ada;
  await page.goto(`${on.server.url}/new`);
  await page.getByRole('textbox', { name: 'Task' }).fill('A long story');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Costs' }).click();
  await page.getByRole('heading', { name: 'Costs', exact: true }).waitFor();
  await page.goto(`${on.server.url}/new`);
  expect(await page.getByRole('textbox', { name: 'Task' }).inputValue()).toBe('A long story');
  await page.getByRole('button', { name: 'Start over' }).click();
  expect(await page.getByRole('textbox', { name: 'Task' }).inputValue()).toBe('');
  await page.reload();
  await page.getByRole('textbox', { name: 'Task' }).waitFor();
  expect(await page.getByRole('textbox', { name: 'Task' }).inputValue()).toBe('');
  expectNoFaults(on.ada);
});
