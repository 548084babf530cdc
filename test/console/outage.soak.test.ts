import { beforeAll, beforeEach, afterEach, expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { echo, edge, eventually } from '#test/support/engine.ts';
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

  test('keeps what is typed in a dialog and at a gate', async () => {
    const runId = await stage.engine.trigger(workflowId);
    await stage.engine.until(runId, ['paused']);
    const { page, context, kept } = await visit('/budgets');
    await page.getByRole('button', { name: 'New budget' }).first().click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Name').fill('Letters budget');
    await page.waitForLoadState('networkidle');
    await api.kill();
    await dialog.getByLabel('Limit (USD)').fill('5');
    await dialog.getByLabel('Estimate per run (USD)').fill('0.5');
    await dialog.getByRole('button', { name: /Create/ }).click();
    await dialog.getByRole('alert').waitFor();
    expect(await dialog.getByLabel('Name').inputValue()).toBe('Letters budget');
    await again();
    await offline(page).waitFor({ state: 'detached' });
    await dialog.getByRole('button', { name: /Create/ }).click();
    await page.getByRole('heading', { name: 'Letters budget' }).waitFor();
    await entry(page, 'Approvals').click();
    const reason = page.getByLabel('Reason');
    await reason.fill('Looks right');
    await api.kill();
    await offline(page).waitFor();
    expect(await reason.inputValue()).toBe('Looks right');
    await kept();
    await again();
    await offline(page).waitFor({ state: 'detached' });
    expect(await reason.inputValue()).toBe('Looks right');
    await page.getByRole('button', { name: 'Approve' }).click();
    await eventually(async () => (await stage.engine.run(runId)).status === 'success');
    await context.close();
  });

  const dialog = (page: Page) => page.getByRole('dialog');
  const openDialog = (button: string) => async (page: Page) => {
    await page.getByRole('main').getByRole('button', { name: button }).first().click();
    await dialog(page).waitFor();
  };
  const inDialog = (label: string | RegExp) => (page: Page) =>
    dialog(page).getByLabel(label).first();
  const approve = async (page: Page): Promise<void> => {
    await page.getByRole('button', { name: /^Approve/ }).click();
    await page.getByRole('button', { name: 'Send now' }).waitFor();
  };

  interface Moment {
    path: string;
    /** What the page shows before, during and after the outage. */
    shows: string | RegExp;
    /** What the person does before typing. */
    first?: (page: Page) => Promise<unknown>;
    /** Where the person types, half before the API is killed and half after. */
    field?: (page: Page) => Locator;
    /** What the person does in the moment in which the API is killed. */
    while?: (page: Page) => Promise<unknown>;
  }

  const moments: Record<string, Moment> = {
    'on the overview': { path: '/', shows: 'Pending approvals' },
    'on the list of runs': { path: '/runs', shows: 'Letters' },
    'in the search of runs': {
      path: '/runs',
      // What is typed filters the list.
      shows: 'Export',
      field: (page) => page.getByRole('textbox', { name: 'Search runs' }),
    },
    'in the filters of runs': {
      path: '/runs',
      shows: 'Letters',
      first: (page) => page.getByRole('button', { name: 'Filters', exact: true }).click(),
      field: (page) => page.getByLabel('Cost from, USD'),
    },
    'on the page of a run': { path: '/runs/:run', shows: 'Ask' },
    'in the reason of a decision': {
      path: '/approvals/:run/ask',
      shows: /^Ask/,
      field: (page) => page.getByLabel('Reason'),
    },
    'while a decision is sent': {
      path: '/approvals/:run/ask',
      shows: /Ask/,
      first: approve,
      while: (page) => page.getByRole('button', { name: 'Send now' }).click(),
    },
    'in a field of the editor': {
      path: '/workflows/:workflow/edit?node=ask',
      shows: 'Edit Letters',
      field: (page) => page.getByLabel('Label', { exact: true }),
    },
    'while a draft is saved': {
      path: '/workflows/:workflow/edit?node=ask',
      shows: 'Edit Letters',
      field: (page) => page.getByLabel('Label', { exact: true }),
      while: (page) => page.getByRole('button', { name: 'Save', exact: true }).click(),
    },
    'in the search of workflows': {
      path: '/workflows',
      shows: 'Workflows',
      field: (page) => page.getByRole('main').getByRole('textbox').first(),
    },
    'in the dialog of a new workflow': {
      path: '/workflows',
      shows: 'Letters',
      first: openDialog('New workflow'),
      field: inDialog(/^Name/),
    },
    'in the dialog of a new budget': {
      path: '/budgets',
      shows: 'Budgets',
      first: openDialog('New budget'),
      field: inDialog(/^Name/),
    },
    'in the dialog of a new secret': {
      path: '/secrets',
      shows: 'Secrets',
      first: openDialog('New secret'),
      field: inDialog(/^Name/),
    },
    'in the dialog of an invitation': {
      path: '/members',
      shows: 'Owner',
      first: openDialog('Invite member'),
      field: inDialog(/^Name/),
    },
    'in the dialog of a new feed': {
      path: '/data',
      shows: 'Feeds',
      first: openDialog('New feed'),
      field: inDialog(/^Name/),
    },
    'in the name of the workspace': {
      path: '/settings',
      shows: 'Workspace',
      field: (page) => page.getByRole('main').getByLabel(/^Name/),
    },
    'in a filter of the audit log': {
      path: '/audit',
      shows: 'Entries',
      field: (page) => page.getByLabel('Target ID'),
    },
    'in the command palette': {
      path: '/usage',
      shows: 'Usage',
      first: (page) => page.keyboard.press('Control+k'),
      field: (page) => page.getByRole('combobox', { name: 'Search or run a command' }),
    },
    'while a page opens': {
      path: '/keys',
      shows: 'API keys',
      while: (page) => page.getByRole('link', { name: 'Webhooks' }).click(),
    },
    'in the help': { path: '/help', shows: 'Keyboard shortcuts' },
  };

  test('keeps the frame, the data and what is typed at twenty moments', async () => {
    expect(Object.keys(moments)).toHaveLength(20);
    const { page, context } = await visit('/login');
    let documents = 1;
    page.on('domcontentloaded', () => (documents += 1));
    const found: string[] = [];
    for (const [name, moment] of Object.entries(moments)) {
      const runId = await stage.engine.trigger(workflowId);
      await stage.engine.until(runId, ['paused']);
      await page.goto(
        api.url + moment.path.replace(':run', runId).replace(':workflow', workflowId),
      );
      const shown = page.getByText(moment.shows).first();
      await shown.waitFor();
      await page.waitForLoadState('networkidle');
      await moment.first?.(page);
      const field = moment.field?.(page);
      // Digits are text in every field, and a number in those for numbers.
      await field?.fill('12');
      const before = documents;
      await Promise.all([api.kill(), moment.while?.(page)]);
      await field?.fill('1234');
      await offline(page).first().waitFor();
      const note = async (when: string): Promise<void> => {
        const kept = {
          frame: documents === before && (await page.getByRole('banner').isVisible()),
          data: moment.while !== undefined || (await shown.count()) > 0,
          typed: field === undefined || (await field.inputValue()).includes('1234'),
        };
        for (const [what, is] of Object.entries(kept)) {
          if (!is) found.push(`${name}, ${when}: lost the ${what}`);
        }
      };
      await note('during');
      await again();
      await offline(page).first().waitFor({ state: 'detached' });
      await note('after');
      await stage.engine.cancel(runId);
    }
    expect(found).toEqual([]);
    await context.close();
  }, 900_000);

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
