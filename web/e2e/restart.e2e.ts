// The server goes away and comes back while somebody watches.
import { beforeAll, test } from 'vitest';
import { enter, expectNoFaults, model, stage } from './acts';

const on = stage();
/** Who asks a server that is not there reads this from the browser itself; nothing else may be said. */
const nobody_there = /^console: Failed to load resource: net::ERR_(CONNECTION_REFUSED|CONNECTION_RESET|EMPTY_RESPONSE|INCOMPLETE_CHUNKED_ENCODING) \(http:\S+\/api\/v1\/\S+\)$/;

beforeAll(() => enter(on));

test('a page that watches a run says that the connection is lost, and shows how the run ended once the server is back', async () => {
  const { page } = on.ada;
  const id = await on.server.create({ task: 'Make the parser faster', model: model('slow.json') });
  await page.goto(`${on.server.url}/jobs/${id}/trace`);
  await page.getByRole('button', { name: /echo step/ }).waitFor();
  await page.locator('.stream.live').waitFor();
  await on.server.stop();
  await page.getByText('Connection lost').waitFor();
  await on.ada.look('trace-lost');
  await on.server.start();
  await page.locator('.stream.live').waitFor();
  await page.locator('.job-words .chip', { hasText: 'Failed' }).waitFor();
  await page.getByText('The server stopped while this was running.').waitFor();
  await page.getByText('still running').waitFor({ state: 'detached' });
  await page.getByRole('button', { name: /echo step/ }).waitFor();
  await on.ada.look('trace-recovered');
  on.ada.forgive(nobody_there);
  expectNoFaults(on.ada);
});

test('the list recovers, too, and shows what was asked for before it was back', async () => {
  const { page } = on.ada;
  await page.goto(on.server.url);
  await page.locator('.job-row', { hasText: 'Make the parser faster' }).waitFor();
  await on.server.stop();
  await page.getByText('Connection lost').waitFor();
  await on.server.start();
  await on.server.create({ task: 'Asked for before the page was back', model: model('wait.json') });
  await page.locator('.job-row', { hasText: 'Asked for before the page was back' }).waitFor();
  on.ada.forgive(nobody_there);
  expectNoFaults(on.ada);
});
