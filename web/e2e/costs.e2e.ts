// Money: a budget that stops a run and is raised, what all jobs cost, and what a new job is told about prices and branches.
import { beforeAll, expect, test } from 'vitest';
import { enter, expectNoFaults, fillIn, press, stage } from './acts';

const on = stage();

beforeAll(() => enter(on));

test('the form knows the branches of a repository, the agents and the models', async () => {
  const { page } = on.ada;
  await fillIn(on.ada, on.server.repository, { task: 'Repair the tests', budget: '0.004' });
  await page.getByText('1 branch; a tag or commit does, too.').waitFor();
  expect(await page.getByLabel('Start from').getAttribute('placeholder')).toBe('main');
  await page.getByText('Agent, model, sandbox, limits').click();
  await page.getByRole('option', { name: 'pi (default)' }).waitFor({ state: 'attached' });
  expect(await page.getByLabel('Model', { exact: true }).getAttribute('placeholder')).toBe('scripted:fix-wrap.json (default)');
  await on.ada.look('new-job-choices');
  await page.getByLabel('Repository', { exact: true }).fill(`${on.server.repository}-gone`);
  await page.getByText(/^Its branches are not known:/).waitFor();
  await page.getByLabel('Repository', { exact: true }).fill(on.server.repository);
  on.ada.faults.splice(0, on.ada.faults.length, ...on.ada.faults.filter((fault) => !fault.includes('/api/v1/branches'))); // the refusal, as the browser prints it
  expectNoFaults(on.ada);
});

test('a run that its budget stopped goes on when it is raised', async () => {
  const { page } = on.ada;
  await press(on.ada, 'Start the job');
  await page.getByText('The budget is spent').first().waitFor();
  await on.ada.look('budget-spent');
  expect(await page.getByLabel('Budget of each run from now on').inputValue()).toBe('0.01615'); // twice what was spent, which is more than twice the budget
  for (const [wrong, words] of [
    ['much', 'an amount above 0, such as 1.50'],
    ['0.003', 'more than $0.0040'],
  ] as const) {
    await page.getByLabel('Budget of each run from now on').fill(wrong);
    await press(on.ada, 'Raise it and go on');
    await page.getByText(words).waitFor();
  }
  await page.getByLabel('Budget of each run from now on').fill('1.50');
  await press(on.ada, 'Raise it and go on');
  await page.getByRole('link', { name: /Run 2/ }).waitFor();
  await page.locator('.job-words .chip', { hasText: 'Succeeded' }).waitFor();
  await page.getByRole('link', { name: 'Overview' }).click();
  await page.getByText('of $1.50').waitFor();
  expectNoFaults(on.ada);
});

test('what all jobs cost stands on a page of its own, by day, repository and model', async () => {
  const { page } = on.ada;
  await page.getByRole('link', { name: 'Costs', exact: true }).first().click();
  await page.getByRole('heading', { name: 'By repository' }).waitFor();
  await page.locator('.chart canvas').waitFor();
  await on.ada.look('all-costs');
  await page.getByRole('link', { name: 'scripted:fix-wrap.json' }).click();
  await page.locator('.cost-filters').getByText('scripted:fix-wrap.json').waitFor();
  await press(on.ada, '90 days');
  expect(new URL(page.url()).searchParams.get('days')).toBe('90');
  const table = await page.evaluate(async () => (await fetch(document.querySelector<HTMLAnchorElement>('a[download]')!.href)).text());
  expect(table.split('\r\n')[0]).toBe('day,repository,model,requests,unpriced_requests,input_tokens,output_tokens,cache_read_tokens,cache_write_tokens,cost_usd');
  expect(table).toContain(`,${on.server.repository},scripted:`);
  expectNoFaults(on.ada);
});
