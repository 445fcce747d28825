// What a run that failed shows, and how another run goes on from one.
import { beforeAll, test } from 'vitest';
import { enter, expectNoFaults, fillIn, model, press, stage } from './acts';

const on = stage();

beforeAll(() => enter(on));

test('a run that met a closed network says which host, and lets it in', async () => {
  const { page } = on.ada;
  await fillIn(on.ada, on.server.repository, { task: 'Add the `rich` package and use it for the output.', model: model('rough.json'), hosts: 'files.example.org', verify: 'false' });
  await press(on.ada, 'Start the job');
  await page.getByText('Blocked hosts').waitFor();
  await page.locator('.job-words .chip', { hasText: 'Failed' }).waitFor();
  await page.getByRole('button', { name: 'Allow and run again' }).waitFor();
  await on.ada.look('overview-failed');
  await page.getByRole('link', { name: 'Trace', exact: true }).click();
  await page.getByText('×4').waitFor();
  await page.getByRole('button', { name: /First error/ }).click();
  await page.locator('.detail .ansi-red').getByText('✗ units').waitFor();
  await on.ada.look('trace-failed');
  await page.getByRole('button', { name: /for i in/ }).first().click();
  await page.getByRole('button', { name: /Show all 43 KiB/ }).click();
  await page.locator('.detail').getByText('line 950 of a long log').waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByRole('button', { name: 'Allow and run again' }).click();
  await page.locator('.facts').getByText('files.example.org, packages.example.org').waitFor();
  expectNoFaults(on.ada);
});

test('a follow-up goes on from a run, and the runs stand beside each other', async () => {
  const { page } = on.ada;
  const id = await on.server.create({ task: 'Repair the tests' });
  await page.goto(`${on.server.url}/jobs/${id}`);
  await page.locator('.job-words .chip', { hasText: 'Succeeded' }).waitFor();
  await page.getByRole('button', { name: 'Follow up' }).click();
  await page.getByLabel('What is to be done now').fill('Good. Now also handle tabs.');
  await page.getByRole('button', { name: 'Queue the run' }).click();
  await page.getByRole('link', { name: /Run 2/ }).waitFor();
  await page.locator('.run-tabs').getByText('follow-up').waitFor();
  expectNoFaults(on.ada);
});
