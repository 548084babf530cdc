import { beforeAll, beforeEach, afterEach, expect, test } from '@jest/globals';
import type { Page } from 'playwright-core';
import { echo, edge } from '#test/support/engine.ts';
import { startApiProcess, type TestApi } from '#test/support/processes.ts';
import { obstacles } from './axe.ts';
import { describeConsole, type Stage } from './browser.ts';

/** What a person sees, types and clicks while the API is killed and comes back. */

const offline = (page: Page) => page.getByText(/^Offline(?: since \d\d:\d\d\.|:)/);
const heading = (page: Page, name: string) => page.getByRole('heading', { name, level: 1 });
const entry = (page: Page, name: string) =>
  page.getByRole('navigation', { name: 'Pages', exact: true }).getByRole('link', { name });

describeConsole('the console while the API is down', (opened) => {
  let stage: Stage;
  let api: TestApi;
  let workflowId: string;
  beforeAll(async () => {
    stage = opened();
    workflowId = await stage.engine.define(
      {
        nodes: [
          echo('draft', "'Dear Ann'"),
          { id: 'ask', kind: 'human_gate', label: 'Ask', prompt: 'Send {draft}?' },
        ],
        edges: [edge('draft', 'ask')],
      },
      'Letters',
    );
  });
  beforeEach(async () => {
    api = await startApiProcess(stage.engine.env);
  });
  afterEach(() => api.stop());

  /** Opens a path on the process that the test kills. */
  const visit = async (path: string, width = 1280) => {
    const { page, context } = await stage.open('/login', { width });
    let loads = 0;
    page.on('domcontentloaded', () => (loads += 1));
    await page.goto(api.url + path);
    return {
      page,
      context,
      /** The frame of the page is the one that was there, in the same document. */
      kept: async (documents = 1) => {
        expect(loads).toBe(documents);
        await page.getByRole('link', { name: 'Workflows' }).first().waitFor();
        expect(await page.getByRole('banner').isVisible()).toBe(true);
        expect(await page.getByRole('main').getByRole('alert').count()).toBe(0);
      },
    };
  };

  /** The same service again, at the same address. */
  const again = async (): Promise<void> => {
    const { url } = api;
    api = {
      ...(await startApiProcess({ ...stage.engine.env, API_PORT: new URL(url).port })),
      url,
    };
  };

  test('opens sections that were not opened before, and continues when it is back', async () => {
    const { page, context, kept } = await visit('/');
    await heading(page, 'Overview').waitFor();
    await page.waitForLoadState('networkidle');
    await api.kill();
    for (const name of ['Runs', 'Workflows', 'Tools', 'Spend', 'Governance', 'Data', 'Settings']) {
      await entry(page, name).click();
      await page.waitForURL((url) => url.pathname !== '/');
      await offline(page).waitFor();
      await kept();
    }
    expect(await offline(page).count()).toBe(1);
    expect(await obstacles(page)).toEqual([]);
    await entry(page, 'Workflows').click();
    await heading(page, 'Workflows').waitFor();
    await again();
    await page.getByRole('link', { name: 'Letters' }).waitFor();
    await offline(page).waitFor({ state: 'detached' });
    await kept();
    await context.close();
  });

  test('waits for a page whose files had not arrived', async () => {
    const { page, context, kept } = await visit('/login');
    await page.route('**/assets/run-list-*.js', (route) => route.abort());
    await page.goto(`${api.url}/settings`);
    await heading(page, 'Workspace').waitFor();
    await api.kill();
    await entry(page, 'Runs').click();
    await offline(page).waitFor();
    await page.unroute('**/assets/run-list-*.js');
    await entry(page, 'Tools').click();
    await entry(page, 'Runs').click();
    await again();
    await heading(page, 'Runs').waitFor();
    await offline(page).waitFor({ state: 'detached' });
    await kept(2);
    await context.close();
  });

  test('keeps what is typed in the editor, on a phone too, and saves it later', async () => {
    for (const width of [1280, 390]) {
      const { page, context, kept } = await visit(`/workflows/${workflowId}/edit?node=ask`, width);
      const label = page.getByLabel('Label', { exact: true });
      await label.fill('Before');
      await api.kill();
      await label.fill(`Asked at ${width}`);
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await offline(page).waitFor();
      // Nothing covers it: a click would reach it.
      await heading(page, 'Edit Letters').click({ trial: true });
      expect(await label.inputValue()).toBe(`Asked at ${width}`);
      await page.getByText('Unsaved changes').first().waitFor();
      await kept();
      await again();
      await offline(page).waitFor({ state: 'detached' });
      await page.getByRole('button', { name: 'Save', exact: true }).click();
      await page.getByText('Draft saved').first().waitFor();
      expect(await label.inputValue()).toBe(`Asked at ${width}`);
      await context.close();
    }
  });

  test('follows what happened in the meantime', async () => {
    const { page, context } = await visit('/approvals');
    await page.getByText('No pending approvals').waitFor();
    await api.kill();
    await offline(page).waitFor();
    const runId = await stage.engine.trigger(workflowId);
    await stage.engine.until(runId, ['paused']);
    await again();
    await page.getByRole('heading', { name: /^Ask/, level: 2 }).waitFor();
    await page.getByRole('button', { name: 'Approve' }).click();
    await stage.engine.until(runId, ['success']);
    await context.close();
  });
});
