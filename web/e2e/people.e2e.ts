// Who may do what: what a role may not do is not offered.
import type { Page } from 'playwright-core';
import { beforeAll, expect, test } from 'vitest';
import { enter, expectNoFaults, signIn, stage } from './acts';
import { smallest } from './browser';

const on = stage();
let ended = '';
let waiting = '';

beforeAll(async () => {
  ended = await on.server.create({ task: 'Repair the tests' });
  waiting = await on.server.create({ task: 'Wait for somebody to start this', start: false });
  await enter(on);
  await on.ada.page.locator('.job-row', { hasText: 'Repair the tests' }).getByText('Review').waitFor();
});

test('an administrator makes tokens, and sees who is signed in', async () => {
  const { page } = on.ada;
  await page.goto(`${on.server.url}/account`);
  await page.getByRole('heading', { name: 'Tokens', exact: true }).waitFor();
  await page.getByLabel('Name').fill('ci');
  await page.getByRole('button', { name: 'Make a token' }).click();
  await page.getByRole('dialog').getByText(/^forge_/).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('td', { hasText: 'ci' }).first().waitFor();
  await on.ada.look('account');
  expectNoFaults(on.ada);
});

/** What of the dashboard changes something, in the order in which it is met. */
async function offers(page: Page): Promise<string[]> {
  const offered: string[] = [];
  const look = async (word: string, there: Promise<number>) => void ((await there) > 0 && offered.push(word));
  await look('new job', page.getByRole('link', { name: 'New job' }).count());
  await page.goto(`${on.server.url}/jobs/${ended}`);
  await page.getByRole('heading', { name: /^Summary/ }).waitFor();
  for (const word of ['Retry', 'Follow up']) await look(word.toLowerCase(), page.getByRole('button', { name: word }).count());
  await page.goto(`${on.server.url}/jobs/${waiting}`);
  await page.getByText('This job was created without starting it.').waitFor();
  await look('start', page.getByRole('button', { name: 'Start it' }).count());
  await page.goto(`${on.server.url}/account`);
  await page.getByRole('button', { name: 'End', exact: true }).first().waitFor();
  await look('make tokens', page.getByRole('button', { name: 'Make a token' }).count());
  return offered;
}

const runs_jobs = ['new job', 'retry', 'follow up', 'start'];

test.for([
  { role: 'viewer', may: [] },
  { role: 'reviewer', may: [] },
  { role: 'operator', may: runs_jobs },
  { role: 'admin', may: [...runs_jobs, 'make tokens'] },
])('the role $role is offered what it may do, and nothing else', async ({ role, may }) => {
  const somebody = await on.visitor();
  const { page } = somebody;
  await signIn(somebody, on.server.url, on.server.token(role));
  await page.locator('.job-row').first().waitFor();
  expect(await offers(page)).toEqual(may);
  await page.goto(`${on.server.url}/new`);
  await page.getByText(may.length ? 'Allowed hosts' : 'Your role may watch jobs, not create them.', { exact: true }).waitFor();
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menu').getByText(role, { exact: true }).last().waitFor();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByLabel('Token').waitFor();
  expectNoFaults(somebody);
  await somebody.context.close();
});

test('every page works in 360 px', async () => {
  const { page } = on.ada;
  await page.setViewportSize(smallest);
  await page.goto(on.server.url);
  await page.locator('.job-title', { hasText: 'Repair the tests' }).click();
  await page.getByRole('heading', { name: /^Summary/ }).waitFor();
  await on.ada.expectNarrowEnough('overview');
  await page.getByRole('link', { name: 'Trace', exact: true }).click();
  await page.getByRole('button', { name: /edit_file/ }).first().click();
  await page.locator('.detail .edit').waitFor();
  await on.ada.expectNarrowEnough('trace with a step');
  await page.getByRole('button', { name: 'Close the step' }).click();
  await page.locator('.detail').waitFor({ state: 'detached' });
  await on.ada.expectNarrowEnough('trace');
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Costs' }).click();
  await page.locator('.chart canvas').waitFor();
  await on.ada.expectNarrowEnough('costs of the job');
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name: 'Costs' }).click();
  await page.getByRole('heading', { name: 'By repository' }).waitFor();
  await on.ada.expectNarrowEnough('costs of all jobs');
  await page.getByRole('link', { name: 'New job' }).click();
  await page.getByText('Agent, model, sandbox, limits').click();
  await page.getByLabel('Model', { exact: true }).waitFor();
  await on.ada.expectNarrowEnough('new job');
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitem', { name: 'Sessions and tokens' }).click();
  await page.getByRole('button', { name: 'Make a token' }).waitFor();
  await on.ada.expectNarrowEnough('account');
  expectNoFaults(on.ada);
});
