import { expect, test } from '@jest/globals';
import { auditActions } from '#shared/contract/audit/audit.ts';
import type { Locator, Page } from 'playwright-core';
import { eventually, mock } from '#test/support/engine.ts';
import { soakTest } from '#test/support/soak.ts';
import { describeConsole, personOf, pressInDialog, rewrite } from './browser.ts';

/** User actions on the pages for money, policies, people, the audit log and the settings. */

const button = (within: Page | Locator, name: string | RegExp) =>
  within.getByRole('button', { name, exact: typeof name === 'string' });

describeConsole(
  'governance pages',
  (stage) => {
    test('create, fill, edit and delete a budget', async () => {
      const { open, call, engine } = stage();
      const { page, problems } = await open('/budgets');
      await page.getByText('No budgets yet').waitFor();
      await button(page, 'New budget').first().click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Letters');
      await dialog.getByLabel('Limit (USD)').fill('2');
      await dialog.getByText('Last month, all workflows spent $0.00.').waitFor();
      const reserve = dialog.getByRole('switch', { name: 'Reserve an estimate for active runs' });
      expect(await reserve.isChecked()).toBe(true);
      await dialog.getByLabel('Estimate per run (USD)').fill('0.5');
      await pressInDialog(page, 'Create budget');
      const card = page.getByRole('article', { name: 'Letters' });
      await card.getByText('0% used').waitFor();
      expect((await call('GET', '/api/budgets')).body).toMatchObject([
        { name: 'Letters', limit_usd: 2, reservation_estimate_usd: 0.5, window: 'month' },
      ]);

      const workflowId = await engine.define({
        nodes: [mock('write', { cost_usd: 0.75, output: 'Dear Ann' })],
        edges: [],
      });
      await engine.until(await engine.trigger(workflowId), ['success']);
      await page.reload();
      await card
        .getByRole('img', { name: /^Spent \$0.75, reserved \$0.00, Remaining \$1.25/ })
        .waitFor();
      await button(card, 'Show daily spend').click();
      const today = new Date().toISOString().slice(0, 10);
      await card.getByRole('row', { name: `${today} $0.75 $1.25` }).waitFor();

      await button(page, 'New budget').click();
      await dialog.getByLabel('Window').selectOption('total');
      await dialog.getByText('In the last 90 days, all workflows spent $0.75.').waitFor();
      const estimate = dialog.getByLabel('Estimate per run (USD)');
      await eventually(async () => (await estimate.inputValue()) === '0.75');
      await button(dialog, 'Cancel').click();
      await dialog.waitFor({ state: 'detached' });

      await button(card, 'Edit').click();
      await dialog.getByLabel('Limit (USD)').fill('0.5');
      const alerts = dialog.getByRole('switch', { name: 'Send alerts at 80% and 100%' });
      expect(await alerts.isChecked()).toBe(true);
      await alerts.uncheck();
      await pressInDialog(page, 'Save changes');
      await card.getByText('no alerts').waitFor();
      await card.getByText('Limit reached').waitFor();
      await card.getByText(/New runs are refused until/).waitFor();
      await button(card, 'Delete').click();
      await pressInDialog(page, 'Delete budget');
      await page.getByText('No budgets yet').waitFor();
      expect((await call('GET', '/api/budgets')).body).toEqual([]);
      expect(problems).toEqual([]);
    });

    soakTest(
      'let a budget and a cap be exceeded by one step, and show that they may be',
      async () => {
        const { open, call, engine } = stage();
        const { page, problems } = await open('/budgets');
        await button(page, 'New budget').first().click();
        const dialog = page.getByRole('dialog');
        const aboveLimit = dialog.getByRole('switch', { name: 'Allow one step above the limit' });
        await dialog.getByLabel('Name').fill('Loose');
        await dialog.getByLabel('Limit (USD)').fill('2');
        // A budget without an estimate does not look at single steps.
        const reserve = dialog.getByRole('switch', { name: 'Reserve an estimate for active runs' });
        await reserve.uncheck();
        expect(await aboveLimit.count()).toBe(0);
        await reserve.check();
        await dialog.getByLabel('Estimate per run (USD)').fill('0.5');
        expect(await aboveLimit.isChecked()).toBe(false);
        await aboveLimit.check();
        await pressInDialog(page, 'Create budget');
        const card = page.getByRole('article', { name: 'Loose' });
        await card.waitFor();
        const read = async () => (await call('GET', '/api/budgets')).body;
        const [{ id: budgetId }] = await read();
        expect(await read()).toMatchObject([{ name: 'Loose', overrun: 'one_step' }]);
        await button(card, 'Edit').click();
        await aboveLimit.waitFor();
        expect(await aboveLimit.isChecked()).toBe(true);
        await aboveLimit.uncheck();
        await pressInDialog(page, 'Save changes');
        expect(await read()).toMatchObject([{ name: 'Loose', overrun: 'none' }]);
        await call('DELETE', `/api/budgets/${budgetId}`);

        const workflowId = await engine.define({ nodes: [mock('write')], edges: [] });
        await page.goto(`${stage().url}/workflows/${workflowId}?tab=settings`);
        const aboveCap = page.getByRole('switch', { name: 'Allow one step above the cap' });
        await page.getByLabel('Cost cap per run (USD)').waitFor();
        expect(await aboveCap.count()).toBe(0);
        await page.getByLabel('Cost cap per run (USD)').fill('2.5');
        for (const overrun of ['one_step', 'none']) {
          expect(await aboveCap.isChecked()).toBe(overrun === 'none');
          await aboveCap.setChecked(overrun === 'one_step');
          await button(page, 'Save changes').click();
          const saved = async () => (await call('GET', `/api/workflows/${workflowId}`)).body;
          await eventually(async () => (await saved()).overrun === overrun);
          await page.reload();
          await aboveCap.waitFor();
        }
        expect(problems).toEqual([]);
      },
    );

    soakTest('show the cost of each workflow and model, and set the price of a model', async () => {
      const { open, call } = stage();
      const { page, problems } = await open('/usage?days=7');
      await page.getByRole('table', { name: 'Usage by workflow' }).getByText('$0.75').waitFor();
      await page
        .getByRole('table', { name: 'Usage by model' })
        .getByRole('row', { name: /^mock 1/ })
        .waitFor();
      await page.getByText('90 days').click();
      await page.waitForURL(/days=90/);
      await button(page, 'Add price').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Model').fill('home/grown');
      // Not by label: that of the cached input contains it.
      await dialog
        .getByRole('textbox', { name: 'Input price (USD per million tokens)', exact: true })
        .fill('1.5');
      await dialog.getByLabel('Output price (USD per million tokens)').fill('3');
      await pressInDialog(page, 'Save price');
      await page.getByRole('row', { name: /home\/grown \$1.50 \$3.00/ }).waitFor();
      expect((await call('GET', '/api/workspace/prices')).body.prices).toEqual([
        { model: 'home/grown', input_usd_per_million: 1.5, output_usd_per_million: 3 },
      ]);
      expect(problems).toEqual([]);
    });

    test('edit policies as forms, and preview redaction without sending the sample', async () => {
      const { open, call } = stage();
      const { page, problems } = await open('/policies');
      await page.getByLabel('Email addresses').check();
      await button(page, 'Add pattern').click();
      await page.getByLabel('Name').fill('employee');
      await page.getByLabel('RE2 pattern').fill('EMP-\\d{6}');

      const sent: string[] = [];
      page.on('request', (request) => {
        if (request.method() !== 'GET' || request.url().includes('ann@')) sent.push(request.url());
      });
      await page.getByLabel('Sample text').fill('Write to ann@example.com about EMP-123456.');
      await page.getByText('Write to [REDACTED:email] about [REDACTED:employee].').waitFor();
      expect(sent).toEqual([]);

      await button(page, 'Add tool').click();
      await page
        .getByRole('group', { name: /^Rules for/ })
        .getByLabel(/^Tool/)
        .fill('http_request');
      await page.keyboard.press('Escape');
      await button(page, 'Block argument').click();
      await page.getByLabel('Blocked argument').fill('method');
      await page.getByLabel('Values').fill('DELETE');
      await button(page, 'Add limit').click();
      const limit = page.getByRole('group', { name: 'Limit 1' });
      await limit.getByText('Models').first().click();
      await limit.getByLabel('Limited models').fill('openai/*');
      await page.keyboard.press('Enter');
      await page.keyboard.press('Escape');
      await limit.getByLabel('Calls at the same time').fill('5');
      await limit.getByLabel('Calls per minute').fill('60');
      await limit.getByLabel('For each value of').fill('{workflow_id}');
      await button(page, 'Save policies').click();
      await button(page, 'Save policies').waitFor({ state: 'detached' });
      expect((await call('GET', '/api/workspace/policies')).body).toEqual({
        model_allowlist: null,
        tools: [
          {
            tool: 'http_request',
            blocked_arguments: [{ argument: 'method', values: ['DELETE'] }],
          },
        ],
        redaction: {
          detectors: ['email'],
          patterns: [{ name: 'employee', regex: 'EMP-\\d{6}' }],
        },
        limits: [{ models: ['openai/*'], concurrency: 5, per_minute: 60, key: '{workflow_id}' }],
      });
      expect(problems).toEqual([]);
    });

    soakTest('evaluate an expression while it is typed, and show where it is invalid', async () => {
      const { open } = stage();
      const { page, problems } = await open('/policies');
      await page.getByText('Evaluates to true in a condition').waitFor();
      const expression = page.getByRole('textbox', { name: 'Expression' });
      await rewrite(expression, 'amount > ');
      await page.getByText('At position').waitFor();
      await page.locator('.cm-lintRange-error').waitFor();
      await rewrite(expression, 'amount > 500');
      await page.getByText('Evaluates to false in a condition').waitFor();
      expect(problems).toEqual([]);
    });

    soakTest('link a decision to its run, and keep the filters in the URL', async () => {
      const { open, call, engine } = stage();
      const workflowId = await engine.define(
        {
          nodes: [mock('write', { output: 'ok' }, { prompt: 'Write to {customer}' })],
          edges: [],
        },
        'Letters',
      );
      const runId = await engine.trigger(workflowId, { customer: 'ann@example.com' });
      await engine.until(runId, ['success']);
      await eventually(async () => (await call('GET', '/api/governance/events')).body.length === 1);
      const { page, problems } = await open('/policy-log');
      const card = page.getByRole('article', { name: 'Data redacted' });
      await card.getByRole('link', { name: 'Letters' }).waitFor();
      await button(card, 'Show evidence').click();
      await card.getByLabel('the evidence', { exact: true }).waitFor();
      expect(await card.getByRole('link', { name: runId }).getAttribute('href')).toBe(
        `/runs/${runId}?step=write`,
      );
      await page.getByLabel('Decision', { exact: true }).selectOption('denied');
      await page.waitForURL(/decision=denied/);
      await page.getByText('No matching entries').waitFor();
      expect(problems).toEqual([]);
    });

    soakTest('filter the audit log by URL, show entry details and verify the chain', async () => {
      const { open, engine } = stage();
      const { page, problems } = await open('/audit?action=policy_update');
      await page.getByText('1 of 1 entries').waitFor();
      await button(page, 'Show details of Policies changed').click();
      await page.getByLabel('the details', { exact: true }).waitFor();
      const action = page.getByRole('combobox', { name: 'Action' });
      expect(await action.inputValue()).toBe('Policies changed');
      // By the text in the table, and by the code.
      await action.fill('run started');
      await page.getByRole('option', { name: auditActions.run, exact: true }).click();
      await page.waitForURL(/action=run$/);
      await action.fill('policy_up');
      await page.getByRole('option', { name: 'Policies changed' }).click();
      await page.waitForURL(/action=policy_update/);
      await page.getByText('1 of 1 entries').waitFor();
      await page.goto(page.url().replace('policy_update', 'no_such_act'));
      await page.getByText('No matching entries').waitFor();
      expect(await action.inputValue()).toBe('no_such_act');
      await button(page, 'Clear filters').click();
      await page.getByText(/of \d+ entries/).waitFor();
      await button(page, 'Verify chain').click();
      await page.getByText('The log is intact').waitFor();
      const head = (await page.getByLabel('the latest hash', { exact: true }).textContent()) ?? '';
      expect(head).toMatch(new RegExp(`^${engine.actor.workspaceId}:\\d+:[0-9a-f]{64}$`));
      expect(problems).toEqual([]);
    });

    test('invite a member and override one of their capabilities', async () => {
      const { open, call } = stage();
      const { page, problems } = await open('/members');
      await button(page, 'Invite member').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('Grace');
      await dialog.getByLabel('Email').fill('grace@example.com');
      await dialog.getByLabel('Role').selectOption('approver');
      await dialog.getByText('Email is not set up').waitFor();
      await button(dialog, 'Create invitation').click();
      const link =
        (await dialog.getByLabel('the invitation link', { exact: true }).textContent()) ?? '';
      const code = new URL(link).searchParams.get('code');
      await pressInDialog(page, 'Done');
      const { body } = await call('POST', '/api/auth/accept-invite', {
        invite_code: code,
        password: 'correct horse battery',
      });
      expect(body.member).toMatchObject({ name: 'Grace', role: 'viewer', status: 'active' });

      await page.getByRole('link', { name: 'Grace' }).click();
      await page.getByRole('heading', { name: 'Grace', level: 1 }).waitFor();
      expect(await page.getByLabel('Override approve_gates').inputValue()).toBe('allow');
      const override = page.getByLabel('Override run_workflows');
      const row = page.getByRole('row').filter({ has: override });
      const identity = async () => (await call('GET', '/api/auth/me', undefined, body.token)).body;
      for (const [choice, held] of [
        ['allow', 'Allowed'],
        ['deny', 'Not allowed'],
        ['inherit', 'Not allowed'],
      ] as const) {
        const read = page.waitForResponse(
          (answer) =>
            answer.request().method() === 'GET' &&
            answer.url().endsWith(`/api/members/${body.member.id}`),
        );
        await override.selectOption(choice);
        await read;
        await row.getByText(held, { exact: true }).waitFor();
        await eventually(
          async () => (await identity()).capabilities.run_workflows === (held === 'Allowed'),
        );
      }
      await button(page, 'Remove').click();
      await pressInDialog(page, 'Remove member');
      await page.waitForURL(/\/members$/);
      expect((await call('GET', '/api/auth/me', undefined, body.token)).status).toBe(401);
      expect(problems).toEqual([]);
    });

    test('show the secret of a key once, and refuse it after it is revoked', async () => {
      const { open, url } = stage();
      const { page, problems } = await open('/keys');
      await button(page, 'New API key').click();
      await page.getByRole('dialog').getByLabel('Name').fill('Nightly import');
      await button(page.getByRole('dialog'), 'Create key').click();
      const secret = (await page.getByLabel('the secret', { exact: true }).textContent()) ?? '';
      await page.getByRole('dialog', { name: 'New API key' }).waitFor({ state: 'detached' });
      const asked = async (): Promise<number> =>
        (await fetch(`${url}/api/auth/me`, { headers: { 'X-API-Key': secret } })).status;
      expect(await asked()).toBe(200);
      await pressInDialog(page, 'Close');
      await page.getByText('Nightly import').waitFor();
      expect(await page.content()).not.toContain(secret);
      await button(page, 'Revoke Nightly import').click();
      await pressInDialog(page, 'Revoke key');
      await page.getByText('No API keys yet').waitFor();
      expect(await asked()).toBe(401);
      expect(problems).toEqual([]);
    });

    soakTest('register a tool with a header whose value stays secret through an edit', async () => {
      const { open, call } = stage();
      const { page, problems } = await open('/tools');
      await button(page, 'New tool').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('crm');
      await dialog.getByLabel('URL').fill('http://127.0.0.1:9/crm');
      await button(dialog, 'Add header').click();
      await dialog.getByLabel('Header', { exact: true }).fill('Authorization');
      await dialog.getByLabel('Value', { exact: true }).fill('Bearer a-secret-of-ours');
      await pressInDialog(page, 'Create tool');
      const card = page.getByRole('article', { name: 'custom:crm' });
      await card.getByText('Authorization').waitFor();

      await button(card, 'Edit crm').click();
      await dialog.getByLabel('Description').fill('Looks customers up');
      await pressInDialog(page, 'Save changes');
      await card.getByText('Looks customers up').waitFor();
      expect((await call('GET', '/api/tools')).body).toMatchObject([
        { name: 'crm', description: 'Looks customers up', headers: { Authorization: '***' } },
      ]);
      expect(await page.content()).not.toContain('a-secret-of-ours');

      await button(card, 'Show schema and test').click();
      await button(card, 'Test tool').click();
      await card.getByText('Test failed').waitFor();
      await button(card, 'Delete crm').click();
      await pressInDialog(page, 'Delete tool');
      await page.getByText('No custom tools yet').waitFor();
      expect(problems).toEqual([]);
    });

    soakTest('create, replace and delete a secret whose value no page shows', async () => {
      const { open, call } = stage();
      const { page, problems } = await open('/secrets');
      await page.getByText('No secrets yet').waitFor();
      await button(page, 'New secret').click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('CRM_API_KEY');
      await dialog.getByLabel('Value').first().fill('a-secret-of-ours');
      await dialog.getByLabel('Allowed hosts').first().fill('API.example.com');
      await page.keyboard.press('Enter');
      await pressInDialog(page, 'Create secret');
      await page.getByText('api.example.com').waitFor();

      await button(page, 'Replace CRM_API_KEY').click();
      await dialog.getByLabel('Value').first().fill('another-secret-of-ours');
      await dialog.getByLabel('Description').fill('For the CRM');
      await pressInDialog(page, 'Replace secret');
      await page.getByText('For the CRM').waitFor();
      expect((await call('GET', '/api/secrets')).body).toMatchObject([
        { name: 'CRM_API_KEY', allowed_hosts: ['api.example.com'], description: 'For the CRM' },
      ]);
      expect(await page.content()).not.toContain('secret-of-ours');

      await button(page, 'Delete CRM_API_KEY').click();
      await pressInDialog(page, 'Delete secret');
      await page.getByText('No secrets yet').waitFor();
      expect(problems).toEqual([]);
    });

    soakTest('change a password, which ends all sessions but this one', async () => {
      const set = stage();
      const ada = await personOf(set, { role: 'editor', name: 'Ada' });
      const { page } = await set.open('/account', { token: ada.token });
      await page.getByLabel('Current password').fill('correct horse battery');
      await page.getByLabel(/^New password( \*)?$/).fill('staple of horses');
      await page.getByLabel('Confirm new password').fill('staple of horses');
      await button(page, 'Change password').click();
      await page.getByText('Password changed').waitFor();
      expect((await set.call('GET', '/api/auth/me', undefined, ada.token)).status).toBe(401);
      await page.goto(`${set.url}/members`);
      await page.getByRole('heading', { name: 'Members', level: 1 }).waitFor();
    });
  },
  { env: { ENCRYPTION_KEY: 'a key for the tests alone' } },
);
