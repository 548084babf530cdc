import { expect, test } from '@jest/globals';
import { obstacles } from './axe.ts';
import { describeConsole, personOf, pressInDialog } from './browser.ts';

const chain = { nodes: [], edges: [] };

describeConsole(
  'the alerts in the settings',
  (stage) => {
    test('are edited for the workspace and for a workflow, and keep a URL that is not shown', async () => {
      const { open, call, engine } = stage();
      const workflowId = await engine.define(chain, 'Refunds');
      const { page, problems } = await open('/settings');
      await page.getByRole('button', { name: 'Edit alerts' }).click();
      const dialog = page.getByRole('dialog');
      await dialog
        .getByLabel('Chat webhook', { exact: true })
        .fill('http://127.0.0.1:9/secret-path');
      await dialog.getByLabel('Email addresses').fill('ops@example.com');
      await page.keyboard.press('Enter');
      await dialog.getByLabel('Runs that still wait after a reminder').uncheck();
      await dialog.getByLabel('Workflows with other settings').click();
      await page.getByRole('option', { name: 'Refunds' }).click();
      const own = dialog.getByRole('group', { name: 'Alerts of Refunds' });
      await own.getByLabel('Budgets at 80% and 100% of their limit').uncheck();
      await own.getByRole('switch', { name: 'Other email addresses' }).check();
      expect(await obstacles(page)).toEqual([]);
      await pressInDialog(page, 'Save changes');
      await page.getByText('To http://127.0.0.1:9/***').waitFor();
      await page.getByText('To ops@example.com').waitFor();
      expect((await call('GET', '/api/workspace/alerts')).body).toMatchObject({
        chat_webhook_url: 'http://127.0.0.1:9/***',
        email: ['ops@example.com'],
        on: ['failed', 'paused', 'budget', 'connection'],
        workflows: { [workflowId]: { on: ['failed', 'paused', 'connection'], email: [] } },
      });

      await page.getByRole('button', { name: 'Edit alerts' }).click();
      await dialog.getByRole('button', { name: 'Remove alerts of Refunds' }).click();
      await pressInDialog(page, 'Save changes');
      await page.getByText('Alerts changed').first().waitFor();
      expect((await call('GET', '/api/workspace/alerts')).body).toMatchObject({
        chat_webhook_url: 'http://127.0.0.1:9/***',
        workflows: {},
      });
      expect(problems).toEqual([]);
    });

    test('show what is refused, and fit a phone', async () => {
      const { open } = stage();
      const { page } = await open('/settings', { width: 390, height: 844 });
      await page.getByRole('button', { name: 'Edit alerts' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Chat webhook', { exact: true }).fill('http://10.0.0.1/hook');
      await dialog.getByRole('button', { name: 'Save changes' }).click();
      await dialog
        .getByRole('alert')
        .getByText(/address of '10.0.0.1' is not allowed/)
        .waitFor();
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(wide).toBeLessThanOrEqual(390);
    });

    test('are read by a member who cannot change them', async () => {
      const { open, call } = stage();
      await call('PUT', '/api/workspace/alerts', { email: ['ops@example.com'] });
      const viewer = await personOf(stage(), { role: 'viewer' });
      const { page, problems } = await open('/settings', { token: viewer.token });
      await page.getByText('To ***@example.com').waitFor();
      await page.getByText('You need the manage_workspace permission to change alerts.').waitFor();
      expect(await page.getByRole('button', { name: 'Edit alerts' }).count()).toBe(0);
      expect(problems).toEqual([]);
    });
  },
  {
    env: {
      ENCRYPTION_KEY: 'a key of this test, long enough',
      EMAIL_API_KEY: 're_key_of_this_test',
      EGRESS_ALLOW: '127.0.0.0/8',
    },
  },
);
