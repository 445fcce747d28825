// From the sign-in to what the first job left: the pages of one job that went well.
import { expect, test } from 'vitest';
import { expectNoFaults, fillIn, press, stage } from './acts';

const on = stage();

test('nobody is let in without a token, and a wrong one is refused in words', async () => {
  const { page } = on.ada;
  await page.goto(`${on.server.url}/jobs/01jdk3v9x2`);
  await page.getByLabel('Token').fill('forge_wrong');
  await page.getByRole('button', { name: 'Sign in' }).click();
  await page.getByText('The token is unknown or revoked.').waitFor();
  on.ada.forgive(/status of 401 .*\/api\/v1\/session/);
  await on.ada.look('sign-in');
  expectNoFaults(on.ada);
});

test('the link of the server signs in, and the first page leads to the first job', async () => {
  const { page } = on.ada;
  await page.goto(on.server.link);
  await page.getByRole('heading', { name: 'No jobs yet' }).waitFor();
  await on.ada.look('first-run');
  await page.getByRole('link', { name: 'Create the first job' }).click();
  await page.getByRole('heading', { name: 'New job' }).waitFor();
  expectNoFaults(on.ada);
});

test('a form that is not filled in says what is missing', async () => {
  await press(on.ada, 'Start the job');
  await on.ada.page.getByText('which repository?').waitFor();
  await fillIn(on.ada, on.server.repository, { task: '# Repair the tests\n\nThe tests of `textkit` fail. Find out why and **repair the code**, not the tests.', verify: 'python3 -m unittest', budget: '0.05' });
  await on.ada.page.getByRole('button', { name: 'Preview' }).click();
  await on.ada.page.getByRole('heading', { name: 'Repair the tests' }).waitFor();
  await on.ada.look('new-job');
  expectNoFaults(on.ada);
});

test('a job is watched while it runs, and ends with a summary, a diff and a cost', async () => {
  const { page } = on.ada;
  await press(on.ada, 'Start the job');
  await page.getByRole('link', { name: 'Trace', exact: true }).click();
  await page.getByRole('button', { name: /Turn 2/ }).waitFor();
  await page.locator('.job-words .chip', { hasText: 'Succeeded' }).waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('heading', { name: /^Summary/ }).waitFor();
  await page.getByText('of $0.0500').waitFor();
  await page.locator('.verdicts').getByText('python3 -m unittest').waitFor();
  await on.ada.look('overview');
  expectNoFaults(on.ada);
});

test('the changes show the diff', async () => {
  const { page } = on.ada;
  await page.getByRole('link', { name: /^Changes/ }).click();
  await page.getByText('if line and len(line) + 1 + len(word) > width:').waitFor();
  await page.getByRole('navigation', { name: 'Files' }).getByRole('button', { name: /wrap\.py/ }).waitFor();
  await on.ada.look('changes');
  expectNoFaults(on.ada);
});

test('the costs are those of the models', async () => {
  const { page } = on.ada;
  await page.getByRole('navigation', { name: 'Views' }).getByRole('link', { name: 'Costs' }).click();
  await page.locator('.chart canvas').waitFor();
  const cells = await page.locator('.costs table').first().locator('tbody td').allInnerTexts();
  expect(cells).toEqual(['scripted:fix-wrap.json', '5', '3.5k', '8.6k', '2.8k', '506', '$0.0199']);
  await on.ada.look('costs');
  expectNoFaults(on.ada);
});

test('a step has an address, and its arguments and output are shown', async () => {
  const { page } = on.ada;
  await page.getByRole('link', { name: 'Trace', exact: true }).click();
  await page.getByRole('button', { name: /edit_file/ }).first().click();
  await page.getByText('Made 1 edit in textkit/wrap.py').first().waitFor();
  const address = page.url();
  expect(address).toMatch(/\/trace\?step=\d+$/);
  await page.goto(address);
  await page.locator('.detail .edit').waitFor();
  await on.ada.look('trace');
  await page.keyboard.press('Escape');
  await page.locator('.detail').waitFor({ state: 'detached' });
  await on.ada.look('trace-whole');
  expectNoFaults(on.ada);
});
