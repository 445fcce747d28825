// What the tests of several topics do and need: a server with somebody in front of it, signing in, making jobs.
import { join } from 'node:path';
import type { Browser } from 'playwright-core';
import { afterAll, afterEach, beforeAll, expect, type RunnerTestCase } from 'vitest';
import { openBrowser, Person, pictures } from './browser';
import { models, Server } from './server';

export const model = (name: string) => `scripted:${join(models, name)}`;

/** A server, and ada, an administrator, in front of it; both for all tests of a file, which build on one another. */
export class Stage {
  readonly server = new Server();
  browser!: Browser;
  ada!: Person;

  async open(): Promise<void> {
    this.server.makeRepository();
    [this.browser] = await Promise.all([openBrowser(), this.server.start()]);
    this.ada = await Person.open(this.browser, this.server.url);
  }

  /** Another person with a browser of their own. */
  visitor = (): Promise<Person> => Person.open(this.browser, this.server.url);

  async pictureIfFailed(task: RunnerTestCase): Promise<void> {
    if (task.result?.state === 'fail') await this.ada.page.screenshot({ path: join(pictures, `failed-${task.name.replaceAll(/\W+/g, '-')}.png`) });
  }

  async close(): Promise<void> {
    await this.browser?.close();
    await this.server.stop();
    this.server.remove();
  }
}

export function stage(): Stage {
  const made = new Stage();
  beforeAll(() => made.open());
  afterAll(() => made.close());
  afterEach(({ task }) => made.pictureIfFailed(task));
  return made;
}

/** Ada signs in with the link that the server printed. */
export async function enter(on: Stage): Promise<void> {
  await on.ada.page.goto(on.server.link);
  await on.ada.page.locator('.stream.live').waitFor();
}

/** What a page must not have done shows up beside the test in which it did it. */
export function expectNoFaults(person: Person): void {
  expect(person.faults.splice(0)).toEqual([]);
}

export async function signIn(person: Person, url: string, token: string): Promise<void> {
  const { page } = person;
  await page.goto(url);
  await page.getByLabel('Token').fill(token);
  await page.getByRole('button', { name: 'Sign in' }).click();
}

export type Asked = { task: string; model?: string; hosts?: string; budget?: string; verify?: string };

/** Fills in the form of a new job. */
export async function fillIn(person: Person, repository: string, asked: Asked): Promise<void> {
  const { page } = person;
  await page.getByRole('link', { name: 'New job' }).click();
  await page.getByRole('heading', { name: 'New job' }).waitFor();
  await page.getByLabel('Repository', { exact: true }).fill(repository);
  await page.getByLabel('Task', { exact: true }).last().fill(asked.task);
  if (asked.verify) await page.getByLabel('Must pass at the end').fill(asked.verify);
  if (asked.hosts) await page.getByLabel('Allowed hosts').fill(asked.hosts);
  if (asked.budget) await page.getByLabel('Budget').fill(asked.budget);
  if (!asked.model) return;
  await page.getByText('Agent, model, sandbox, limits').click();
  await page.getByLabel('Model', { exact: true }).fill(asked.model);
}

export const press = (person: Person, name: string | RegExp) => person.page.getByRole('button', { name }).click();
