// The list of jobs, with the mouse and by keys, in one tab and in two.
import { beforeAll, expect, test } from 'vitest';
import { enter, expectNoFaults, model, stage } from './acts';

const on = stage();

beforeAll(async () => {
  await on.server.create({ task: 'Repair the tests' });
  await enter(on);
});

test('the list begins with what needs somebody, searches, and cancels what is selected', async () => {
  const { page } = on.ada;
  await page.locator('.job-row', { hasText: 'Repair the tests' }).getByText('Review').waitFor();
  await on.server.create({ task: 'Make the parser faster', model: model('slow.json') });
  for (const task of ['Document the wrapping rules', 'Port the tests to pytest', 'Remove the old slug function']) await on.server.create({ task, model: model('wait.json') });
  await page.locator('.job-title', { hasText: 'Make the parser faster' }).click();
  await page.getByRole('link', { name: 'Trace', exact: true }).click();
  await page.getByRole('button', { name: /echo step/ }).waitFor();
  // This one goes on until it is cancelled, so that nothing here depends on how fast the machine is.
  expect(await page.getByRole('button', { name: 'Follow', exact: true }).getAttribute('aria-pressed')).toBe('true');
  await on.ada.look('trace-live');
  await page.keyboard.press('g');
  await page.keyboard.press('j');
  await page.locator('.job-group.needs').waitFor();
  expect(await page.locator('.job-group').first().innerText()).toMatch(/^Needs me/);
  expect(await page.title()).toMatch(/^\(\d+\) Forge$/);
  await page.locator('.job-row', { hasText: 'Remove the old slug function' }).getByText('Queued').waitFor();
  await on.ada.look('jobs');
  await page.keyboard.press('/');
  await page.keyboard.type('old slug');
  await page.waitForURL(/q=old\+slug/);
  await page.locator('.job-row', { hasText: 'Make the parser faster' }).waitFor({ state: 'detached' });
  await page.keyboard.press('Escape');
  await page.getByRole('searchbox').fill('');
  for (const box of await page.locator('.job-pick input').all()) await box.check();
  await on.ada.look('jobs-selected');
  await page.getByRole('region', { name: 'Selected jobs' }).getByRole('button', { name: /^Cancel/ }).click();
  await page.getByRole('dialog').getByRole('button', { name: /^Cancel \d+ jobs/ }).click();
  await page.locator('.job-row', { hasText: 'Remove the old slug function' }).getByText('Cancelled').waitFor();
  await page.locator('.job-row', { hasText: 'Make the parser faster' }).getByText('Cancelled').waitFor();
  expectNoFaults(on.ada);
});

test('a second tab is fed by the stream of the first', async () => {
  const { page } = on.ada;
  const second = await on.ada.context.newPage();
  on.ada.watch(second);
  const streams: string[] = [];
  second.on('request', (request) => {
    if (request.url().includes('/api/v1/events')) streams.push(request.url());
  });
  await second.goto(on.server.url);
  await second.locator('.stream.live').waitFor();
  await on.server.create({ task: 'Seen in both tabs', start: false });
  await second.locator('.job-row', { hasText: 'Seen in both tabs' }).waitFor();
  await page.locator('.job-row', { hasText: 'Seen in both tabs' }).waitFor();
  expect(streams).toEqual([]);
  await second.close();
  expectNoFaults(on.ada);
});

test('the keys are shown on ?, and work', async () => {
  const { page } = on.ada;
  await page.goto(on.server.url);
  await page.locator('.job-row').first().waitFor();
  await page.keyboard.press('?');
  await page.getByRole('dialog').getByText('Show these keys').waitFor();
  await on.ada.look('keys');
  await page.keyboard.press('Escape');
  await page.getByRole('dialog').waitFor({ state: 'detached' });
  await page.keyboard.press('j');
  await page.keyboard.press('Enter');
  await page.locator('.job-words').waitFor();
  await page.keyboard.press('2');
  await page.waitForURL(/\/trace/);
  expectNoFaults(on.ada);
});

test('the cursor stays on its job when others come and go, also over a look at another page', async () => {
  const { page } = on.ada;
  await page.goto(on.server.url);
  await page.locator('.job-row').first().waitFor();
  await page.keyboard.press('j');
  await page.keyboard.press('j');
  const here = (await page.locator('.job-row.current .job-title').textContent()) ?? '';
  await on.server.create({ task: 'Comes in above it', start: false });
  await page.locator('.job-row', { hasText: 'Comes in above it' }).waitFor();
  expect(await page.locator('.job-row.current .job-title').textContent()).toBe(here);
  await page.keyboard.press('Enter');
  await page.locator('.job-words').waitFor();
  await page.keyboard.press('u');
  await page.locator('.job-row.current', { hasText: here }).waitFor();
  expectNoFaults(on.ada);
});

test('a list that could not be read to its end says so, and is read when it is asked again', async () => {
  const { page } = on.ada;
  const first = /\/api\/v1\/jobs\?limit=50$/;
  const rest = /\/api\/v1\/jobs\?.*cursor=/;
  await page.route(first, async (route) => {
    const answer = await route.fetch();
    const list = (await answer.json()) as { items: { id: string }[]; next_cursor: string | null };
    await route.fulfill({ response: answer, json: { items: list.items.slice(0, 2), next_cursor: list.items[1]!.id } });
  });
  await page.route(rest, (route) => route.abort());
  await page.goto(on.server.url);
  await page.getByText('Older jobs could not be read.').waitFor();
  expect(await page.locator('.job-row').count()).toBe(2);
  await page.unroute(rest);
  await page.unroute(first);
  await page.getByRole('button', { name: 'Try again' }).click();
  await page.locator('.job-row').nth(2).waitFor();
  await page.getByText('Older jobs could not be read.').waitFor({ state: 'detached' });
  on.ada.forgive(/ERR_FAILED/);
  expectNoFaults(on.ada);
});

test('a job that is not there is an answer in words', async () => {
  const { page } = on.ada;
  await page.goto(`${on.server.url}/jobs/zzzzzzzzzz`);
  await page.getByRole('alert').waitFor();
  await page.goto(`${on.server.url}/api/nothing`);
  expect(await page.content()).toContain('not_found');
  on.ada.forgive(/status of 404 .*\/(zzzzzzzzzz|nothing|favicon\.ico)\b/);
  expectNoFaults(on.ada);
});
