import { expect, test } from '@jest/globals';
import type { Locator, Page } from 'playwright-core';
import { eventually } from '#test/support/engine.ts';
import { soakCases, soakTest } from '#test/support/soak.ts';
import { describeConsole, pressInDialog, type Stage } from './browser.ts';

/** Two people who change the same record: one has a form open while the other saves. */

const TITLE = 'Someone changed this since you opened it';

const graph = { nodes: [{ id: 'a', kind: 'agent', mock: {} }], edges: [] };

const button = (within: Page | Locator, name: string) =>
  within.getByRole('button', { name, exact: true });

const made = async ({ call }: Stage, method: string, path: string, body?: unknown) => {
  const answer = await call(method, path, body);
  expect([method, path, answer.status]).toEqual([method, path, expect.any(Number)]);
  if (answer.status >= 300) throw new Error(JSON.stringify(answer.body));
  return answer.body;
};

interface Form {
  /** Creates the record, and returns the address of its page, and of the record. */
  prepare: (stage: Stage) => Promise<{ page: string; record: string }>;
  open: (page: Page) => Promise<Locator>;
  /** The field that the person changes, and the value. */
  mine: [label: string, value: string];
  submit: string;
  /** What the other person saves in the meantime, and how the notice says it. */
  theirs: object;
  said: string;
  /** What the service has after both. */
  both: object;
}

const inDialog =
  (opener: string) =>
  async (page: Page): Promise<Locator> => {
    await button(page, opener).click();
    return page.getByRole('dialog');
  };
const onPage = async (page: Page): Promise<Locator> => page.getByRole('main');

const forms: Record<string, Form> = {
  'a budget': {
    prepare: async (stage) => {
      const { id } = await made(stage, 'POST', '/api/budgets', { name: 'Letters', limit_usd: 5 });
      return { page: '/budgets', record: `/api/budgets/${id}` };
    },
    open: inDialog('Edit'),
    mine: ['Name', 'All letters'],
    submit: 'Save changes',
    theirs: { limit_usd: 7 },
    said: 'Limit usd: from 5 → to 7',
    both: { name: 'All letters', limit_usd: 7 },
  },
  'a custom tool': {
    prepare: async (stage) => {
      const tool = { name: 'crm', endpoint_url: 'https://crm.example.com/', headers: { A: 'b' } };
      const { id } = await made(stage, 'POST', '/api/tools', tool);
      return { page: '/tools', record: `/api/tools/${id}` };
    },
    open: inDialog('Edit crm'),
    mine: ['Label', 'Customers'],
    submit: 'Save changes',
    theirs: { description: 'Looks customers up', headers: { A: '***', C: 'd' } },
    said: 'Description: from none → to Looks customers up',
    both: {
      label: 'Customers',
      description: 'Looks customers up',
      headers: { A: '***', C: '***' },
    },
  },
  'a source': {
    prepare: async (stage) => {
      const source = { name: 'Portal', type: 'portal' };
      const { id } = await made(stage, 'POST', '/api/data/sources', source);
      return { page: '/data', record: `/api/data/sources/${id}` };
    },
    open: async (page) => {
      await button(page, 'Actions for Portal').click();
      await page.getByRole('menuitem', { name: 'Edit' }).click();
      return page.getByRole('dialog');
    },
    mine: ['Jurisdiction', 'Austin, TX'],
    submit: 'Save changes',
    theirs: { cadence: 'daily' },
    said: 'Cadence: from none → to daily',
    both: { jurisdiction: 'Austin, TX', cadence: 'daily' },
  },
  'the checks of a workflow': {
    prepare: async (stage) => {
      const { id } = await made(stage, 'POST', '/api/workflows', { name: 'Checked', graph });
      await made(stage, 'PUT', `/api/workflows/${id}/checks`, [
        { name: 'a', type: 'contains', value: 'x' },
      ]);
      return { page: `/workflows/${id}?tab=checks`, record: `/api/workflows/${id}` };
    },
    open: onPage,
    mine: ['Expected text', 'y'],
    submit: 'Save checks',
    theirs: { description: 'Of theirs' },
    said: 'Description: from none → to Of theirs',
    both: { description: 'Of theirs', checks: [expect.objectContaining({ value: 'y' })] },
  },
};

/** Holds what the page reads of the record until a change of it is refused: it could read their change before. */
async function holdReads(page: Page, record: string): Promise<void> {
  const refused = page.waitForResponse((response) => response.status() === 412);
  await page.route(`**${record}`, async (route) => {
    if (route.request().method() === 'GET') await refused;
    await route.continue();
  });
}

describeConsole(
  'a form that is open while someone else saves',
  (stage) => {
    test.each(soakCases(Object.entries(forms), 2))(
      'keeps what was entered in %s, and their changes',
      async (_, form) => {
        const { open, call } = stage();
        const at = await form.prepare(stage());
        const { page, problems, context } = await open(at.page);
        const shown = await form.open(page);
        const field = shown.getByLabel(form.mine[0]).first();
        await field.fill(form.mine[1]);
        await holdReads(page, at.record);
        await made(stage(), 'PUT', at.record, form.theirs);
        await button(shown, form.submit).click();
        const notice = shown.getByRole('alert').filter({ hasText: TITLE });
        await notice.getByText(form.said).waitFor();
        expect(await button(shown, form.submit).isDisabled()).toBe(true);

        await button(notice, 'Reload').click();
        await notice.waitFor({ state: 'detached' });
        expect(await field.inputValue()).toBe(form.mine[1]);
        await button(shown, form.submit).click();
        await page.getByText(/saved$/).waitFor();
        expect((await call('GET', at.record)).body).toMatchObject(form.both);
        expect(problems).toEqual([expect.stringMatching(/^412: /)]);
        await context.close();
      },
    );

    soakTest('can be replaced by their state', async () => {
      const { open, call } = stage();
      const { id } = await made(stage(), 'POST', '/api/budgets', { name: 'Post', limit_usd: 1 });
      const { page, context } = await open('/budgets');
      await button(page.getByRole('article', { name: 'Post' }), 'Edit').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Limit (USD)').fill('3');
      await made(stage(), 'PUT', `/api/budgets/${id}`, { limit_usd: 2, name: 'Mail' });
      await button(dialog, 'Save changes').click();
      await button(dialog, 'Discard my changes').click();
      expect(await dialog.getByLabel('Limit (USD)').inputValue()).toBe('2');
      expect(await dialog.getByLabel('Name').inputValue()).toBe('Mail');
      expect((await call('GET', `/api/budgets/${id}`)).body).toMatchObject({ limit_usd: 2 });
      await context.close();
    });

    test('keeps the value of a secret, and says when the secret was deleted', async () => {
      const { open } = stage();
      const put = { value: 'first-value', allowed_hosts: ['a.example.com'] };
      await made(stage(), 'PUT', '/api/secrets/KEY', put);
      const { page, context } = await open('/secrets');
      const dialog = await inDialog('Replace KEY')(page);
      const value = dialog.getByRole('textbox', { name: 'Value' });
      await value.fill('my-own-value');
      await made(stage(), 'PUT', '/api/secrets/KEY', { ...put, allowed_hosts: ['b.example.com'] });
      await button(dialog, 'Replace secret').click();
      await button(dialog, 'Reload').click();
      await dialog.getByText('b.example.com').waitFor();
      expect(await value.inputValue()).toBe('my-own-value');
      await made(stage(), 'DELETE', '/api/secrets/KEY');
      await button(dialog, 'Replace secret').click();
      await dialog.getByText('Someone deleted this since you opened it').waitFor();
      expect(await value.inputValue()).toBe('my-own-value');
      await context.close();
    });

    soakTest('keeps policies that were entered, and shows theirs', async () => {
      const { open, call } = stage();
      const { page, context } = await open('/policies');
      await page.getByLabel('Only listed models').check();
      await holdReads(page, '/api/workspace/policies');
      await made(stage(), 'PUT', '/api/workspace/policies', {
        redaction: { detectors: ['email'], patterns: [] },
      });
      const bar = page.getByRole('region', { name: 'Unsaved changes' });
      await button(bar, 'Save policies').click();
      await bar.getByText(TITLE).waitFor();
      await button(bar, 'Reload').click();
      await button(bar, 'Save policies').click();
      await page.getByText('Policies saved').waitFor();
      expect((await call('GET', '/api/workspace/policies')).body).toMatchObject({
        model_allowlist: [],
        redaction: { detectors: ['email'] },
      });
      await context.close();
    });

    soakTest(
      'is the same for an action without a form, which does nothing, and shows the current state',
      async () => {
        const { open, call } = stage();
        const { id } = await made(stage(), 'POST', '/api/budgets', { name: 'Mine', limit_usd: 1 });
        const { page, problems, context } = await open('/budgets');
        await button(page.getByRole('article', { name: 'Mine' }), 'Delete').click();
        await page.getByRole('dialog').getByText('Delete this budget?').waitFor();
        await made(stage(), 'PUT', `/api/budgets/${id}`, { name: 'Post' });
        await pressInDialog(page, 'Delete budget');
        await page.getByText(TITLE).waitFor();
        const card = page.getByRole('article', { name: 'Post' });
        expect((await call('GET', `/api/budgets/${id}`)).status).toBe(200);
        await button(card, 'Delete').click();
        await pressInDialog(page, 'Delete budget');
        await page.getByText('Budget deleted').waitFor();
        expect(problems).toEqual([expect.stringMatching(/^412: /)]);
        await context.close();
      },
    );

    soakTest('takes their state over while nothing is entered', async () => {
      const { open } = stage();
      const { id } = await made(stage(), 'POST', '/api/workflows', { name: 'Before', graph });
      const { page, problems, context } = await open(`/workflows/${id}?tab=settings`);
      const name = page.getByLabel('Name');
      expect(await name.inputValue()).toBe('Before');
      await made(stage(), 'PUT', `/api/workflows/${id}`, { name: 'After' });
      await page.getByRole('heading', { name: 'After' }).waitFor();
      await eventually(async () => (await name.inputValue()) === 'After');
      await page.getByLabel('Description').fill('Mine');
      await button(page, 'Save changes').click();
      await page.getByText('Settings saved').waitFor();
      expect(problems).toEqual([]);
      await context.close();
    });
  },
  { env: { ENCRYPTION_KEY: 'a key for the tests alone' } },
);
