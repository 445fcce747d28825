// The dashboard in a real browser over the real server; only the models are scripted. The tests build on one another, in their order.
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openBrowser, Person } from './browser';
import { models, repairs, Server } from './server';

const server = new Server();
let browser: Browser;
let ada: Person;

beforeAll(async () => {
  server.makeRepository();
  [browser] = await Promise.all([openBrowser(), server.start()]);
  ada = await Person.open(browser, server.url);
});
afterAll(async () => {
  await browser?.close();
  await server.stop();
  server.remove();
});

/** What a page must not have done shows up beside the test in which it did it. */
function expectNoFaults(person: Person): void {
  expect(person.faults.splice(0)).toEqual([]);
}

async function create(person: Person, change: { task: string; model?: string; hosts?: string; budget?: string; verify?: string }): Promise<void> {
  const { page } = person;
  await page.getByRole('link', { name: 'New job' }).click();
  await page.getByRole('heading', { name: 'New job' }).waitFor();
  await page.getByLabel('Repository', { exact: true }).fill(server.repository);
  await page.getByLabel('Task', { exact: true }).last().fill(change.task);
  if (change.verify) await page.getByLabel('Must pass at the end').fill(change.verify);
  if (change.hosts) await page.getByLabel('Allowed hosts').fill(change.hosts);
  if (change.budget) await page.getByLabel('Budget').fill(change.budget);
  if (change.model) {
    await page.getByText('Agent, model, sandbox, limits').click();
    await page.getByLabel('Model', { exact: true }).fill(change.model);
  }
}
const start = (person: Person) => person.page.getByRole('button', { name: 'Start the job' }).click();

test('nobody is let in without a token, and a wrong one is refused in words', async () => {
  const { page } = ada;
  await page.goto(`${server.url}/jobs/01jdk3v9x2`);
  await page.getByLabel('Token').fill('forge_wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('The token is unknown or revoked.').waitFor();
  ada.faults.splice(0, ada.faults.length, ...ada.faults.filter((fault) => !fault.includes('401'))); // the refusal, as the browser prints it
  await ada.look('sign-in');
  expectNoFaults(ada);
});

test('the link of the server signs in, and the first page leads to the first job', async () => {
  const { page } = ada;
  await page.goto(server.link);
  await page.getByRole('heading', { name: 'No jobs yet' }).waitFor();
  await ada.look('first-run');
  await page.getByRole('link', { name: 'Create the first job' }).click();
  await page.getByRole('heading', { name: 'New job' }).waitFor();
  expectNoFaults(ada);
});

test('a form that is not filled in says what is missing', async () => {
  await start(ada);
  await ada.page.getByText('which repository?').waitFor();
  await create(ada, { task: '# Repair the tests\n\nThe tests of `textkit` fail. Find out why and **repair the code**, not the tests.', verify: 'python3 -m unittest', budget: '0.05' });
  await ada.page.getByRole('button', { name: 'Preview' }).click();
  await ada.page.getByRole('heading', { name: 'Repair the tests' }).waitFor();
  await ada.look('new-job');
  expectNoFaults(ada);
});

test('a job is watched while it runs, and ends with a summary, a diff and a cost', async () => {
  const { page } = ada;
  await start(ada);
  await page.getByRole('link', { name: 'Trace', exact: true }).click();
  await page.getByRole('button', { name: /Turn 2/ }).waitFor();
  await page.locator('.job-words .chip', { hasText: 'Succeeded' }).waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('heading', { name: /^Summary/ }).waitFor();
  await page.getByText('of $0.0500').waitFor();
  await page.locator('.verdicts').getByText('python3 -m unittest').waitFor();
  await ada.look('overview');
  expectNoFaults(ada);
});

test('the changes show the diff', async () => {
  const { page } = ada;
  await page.getByRole('link', { name: /^Changes/ }).click();
  await page.getByText('if line and len(line) + 1 + len(word) > width:').waitFor();
  await page.getByRole('navigation', { name: 'Files' }).getByRole('button', { name: /wrap\.py/ }).waitFor();
  await ada.look('changes');
  expectNoFaults(ada);
});

test('the costs are those of the models', async () => {
  const { page } = ada;
  await page.getByRole('link', { name: 'Costs' }).click();
  await page.locator('.chart canvas').waitFor();
  const cells = await page.locator('.costs table').first().locator('tbody td').allInnerTexts();
  expect(cells).toEqual(['scripted:fix-wrap.json', '5', '3.5k', '8.6k', '2.8k', '506', '$0.0199']);
  await ada.look('costs');
  expectNoFaults(ada);
});

test('a step has an address, and its arguments and output are shown', async () => {
  const { page } = ada;
  await page.getByRole('link', { name: 'Trace', exact: true }).click();
  await page.getByRole('button', { name: /edit_file/ }).first().click();
  await page.getByText('Made 1 edit in textkit/wrap.py').first().waitFor();
  const address = page.url();
  expect(address).toMatch(/\/trace\?step=\d+$/);
  await page.goto(address);
  await page.locator('.detail .edit').waitFor();
  await ada.look('trace');
  await page.keyboard.press('Escape');
  await page.locator('.detail').waitFor({ state: 'detached' });
  await ada.look('trace-whole');
  expectNoFaults(ada);
});

test('a run that met a closed network says which host, and lets it in', async () => {
  const { page } = ada;
  await create(ada, { task: 'Add the `rich` package and use it for the output.', model: `scripted:${join(models, 'rough.json')}`, hosts: 'files.example.org', verify: 'false' });
  await start(ada);
  await page.getByText('Blocked hosts').waitFor();
  await page.locator('.job-words .chip', { hasText: 'Failed' }).waitFor();
  await page.getByRole('button', { name: 'Allow and run again' }).waitFor();
  await ada.look('overview-failed');
  await page.getByRole('link', { name: 'Trace', exact: true }).click();
  await page.getByText('×4').waitFor();
  await page.getByRole('button', { name: /First error/ }).click();
  await page.locator('.detail .ansi-red').getByText('✗ units').waitFor();
  await ada.look('trace-failed');
  await page.getByRole('button', { name: /for i in/ }).first().click();
  await page.getByRole('button', { name: /Show all 43 KiB/ }).click();
  await page.locator('.detail').getByText('line 950 of a long log').waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('button', { name: 'Allow and run again' }).click();
  await page.locator('.facts').getByText('files.example.org, packages.example.org').waitFor();
  expectNoFaults(ada);
});

test('a follow-up goes on from a run, and the runs stand beside each other', async () => {
  const { page } = ada;
  await page.goto(`${server.url}/?q=repair`);
  await page.locator('.job-title').first().click();
  await page.getByRole('button', { name: 'Follow up' }).click();
  await page.getByLabel('What is to be done now').fill('Good. Now also handle tabs.');
  await page.getByRole('button', { name: 'Queue the run' }).click();
  await page.getByRole('link', { name: /Run 2/ }).waitFor();
  await page.locator('.run-tabs').getByText('follow-up').waitFor();
  expectNoFaults(ada);
});

test('the list begins with what needs somebody, searches, and cancels what is selected', async () => {
  const { page } = ada;
  for (const task of ['Make the parser faster', 'Document the wrapping rules', 'Port the tests to pytest', 'Remove the old slug function']) {
    await create(ada, { task, model: `scripted:${join(models, task.startsWith('Make') ? 'slow.json' : 'wait.json')}` });
    await start(ada);
    await page.getByRole('heading', { name: task }).waitFor();
  }
  await page.getByRole('link', { name: 'Jobs', exact: false }).first().click();
  await page.locator('.job-title', { hasText: 'Make the parser faster' }).click();
  await page.getByRole('link', { name: 'Trace', exact: true }).click();
  await page.getByRole('button', { name: /echo step/ }).waitFor();
  // This one goes on until it is cancelled, so that nothing here depends on how fast the machine is.
  expect(await page.getByRole('button', { name: 'Follow', exact: true }).getAttribute('aria-pressed')).toBe('true');
  await ada.look('trace-live');
  await page.keyboard.press('g');
  await page.keyboard.press('j');
  await page.locator('.job-group.needs').waitFor();
  expect(await page.locator('.job-group').first().innerText()).toMatch(/^Needs me/);
  expect(await page.title()).toMatch(/^\(\d+\) Forge$/);
  await page.locator('.job-row', { hasText: 'Remove the old slug function' }).getByText('Queued').waitFor();
  await ada.look('jobs');
  await page.keyboard.press('/');
  await page.keyboard.type('old slug');
  await page.waitForURL(/q=old\+slug/);
  await page.locator('.job-row', { hasText: 'Make the parser faster' }).waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await page.getByRole('searchbox').fill('');
  for (const box of await page.locator('.job-pick input').all()) await box.check();
  await ada.look('jobs-selected');
  await page.getByRole('region', { name: 'Selected jobs' }).getByRole('button', { name: /^Cancel/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: /^Cancel \d+ jobs/ }).click();
  await page.locator('.job-row', { hasText: 'Remove the old slug function' }).getByText('Cancelled').waitFor();
  await page.locator('.job-row', { hasText: 'Make the parser faster' }).getByText('Cancelled').waitFor();
  expectNoFaults(ada);
});

test('a second tab is fed by the stream of the first', async () => {
  const second = await ada.context.newPage();
  ada.watch(second);
  const streams: string[] = [];
  second.on('request', (request) => {
    if (request.url().includes('/api/v1/events')) streams.push(request.url());
  });
  await second.goto(server.url);
  await second.locator('.stream.live').waitFor();
  await create(ada, { task: 'Seen in both tabs', model: `scripted:${repairs}` });
  await start(ada);
  await second.locator('.job-row', { hasText: 'Seen in both tabs' }).waitFor();
  expect(streams).toEqual([]);
  await second.close();
  expectNoFaults(ada);
});

test('the keys are shown on ?, and work', async () => {
  const { page } = ada;
  await page.goto(server.url);
  await page.locator('.job-row').first().waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog').getByText('Show these keys').waitFor();
  await ada.look('keys');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.locator('.job-words').waitFor();
  await page.keyboard.press('2');
  await page.waitForURL(/\/trace/);
  expectNoFaults(ada);
});

test('an administrator makes tokens, and sees who is signed in', async () => {
  const { page } = ada;
  await page.goto(`${server.url}/account`);
  await page.getByRole('heading', { name: 'Tokens', exact: true }).waitFor();
  await page.getByLabel('Name').fill('ci');
  await page.getByRole('button', { name: 'Make a token' }).click();
  await page.getByRole('dialog').getByText(/^forge_/).waitFor();
  await page.keyboard.press('Escape');
  await page.locator('td', { hasText: 'ci' }).first().waitFor();
  await ada.look('account');
  expectNoFaults(ada);
});

test('a viewer reads everything and can start and stop nothing', async () => {
  const vera = await Person.open(browser, server.url);
  const { page } = vera;
  await page.goto(server.url);
  await page.getByLabel('Token').fill(server.token('viewer'));
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.locator('.job-row').first().waitFor();
  expect(await page.getByRole('link', { name: 'New job' }).count()).toBe(0);
  expect(await page.locator('.job-pick input').count()).toBe(0);
  await page.locator('.job-title').first().click();
  await page.getByRole('link', { name: 'Costs' }).waitFor();
  expect(await page.locator('.job-actions').count()).toBe(0);
  await page.goto(`${server.url}/new`);
  await page.getByText('Your role may watch jobs, not create them.').waitFor();
  await page.goto(`${server.url}/account`);
  await page.getByText('Your sessions').waitFor();
  expect(await page.getByRole('heading', { name: 'Tokens', exact: true }).count()).toBe(0);
  await page.getByRole('button', { name: /^Account/ }).click();
  await page.getByRole('menuitem', { name: 'Sign out' }).click();
  await page.getByLabel('Token').waitFor();
  expectNoFaults(vera);
  await vera.context.close();
});

test('a job that is not there is an answer in words', async () => {
  const { page } = ada;
  await page.goto(`${server.url}/jobs/zzzzzzzzzz`);
  await page.getByRole('alert').waitFor();
  await page.goto(`${server.url}/api/nothing`);
  expect(await page.content()).toContain('not_found');
  ada.faults.splice(0); // the browser prints a 404 by itself
});
