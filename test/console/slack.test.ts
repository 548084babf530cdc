import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type SlackServer, startSlackServer } from '#test/fakes/slack-server.ts';
import { echo, eventually } from '#test/support/engine.ts';
import {
  connectSlack,
  SIGNING_SECRET,
  slackClient,
  slackEnv,
  slackSettings,
} from '#test/support/slack-world.ts';
import type { TestApi } from '#test/api/test-api.ts';
import { obstacles } from './axe.ts';
import { describeConsole, pressInDialog } from './browser.ts';

const env: Record<string, string> = { EGRESS_ALLOW: '127.0.0.0/8' };
let slack: SlackServer;
// Before the stage reads the settings.
beforeAll(async () => {
  slack = await startSlackServer();
  const { PUBLIC_URL: _url, ...settings } = slackEnv(slack.apiUrl);
  Object.assign(env, settings);
});
afterAll(() => slack.close());

/** Calls the API with headers, and without following redirects. */
const fetched =
  (url: string): TestApi['call'] =>
  async (method, path, payload, headers = {}) => {
    const json = payload === undefined ? {} : { 'content-type': 'application/json' };
    const answer = await fetch(url + path, {
      method,
      headers: { ...json, ...headers },
      redirect: 'manual',
      ...(payload === undefined ? {} : { body: JSON.stringify(payload) }),
    });
    const text = await answer.text();
    const { status } = answer;
    const isJson = answer.headers.get('content-type')?.startsWith('application/json') === true;
    return {
      ...{ status, text, body: isJson ? JSON.parse(text) : undefined },
      headers: {
        'set-cookie': answer.headers.getSetCookie(),
        location: answer.headers.get('location') ?? undefined,
      },
    };
  };

describeConsole(
  'Slack in the alerts',
  (stage) => {
    test('is set up with what the Slack app needs, and shows its problem', async () => {
      const { open, call, url } = stage();
      await connectSlack(fetched(url), slack);
      const { page, problems } = await open('/settings', { width: 390, height: 844 });
      await page.getByRole('button', { name: 'Edit alerts' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByRole('switch', { name: 'Ask for decisions in Slack' }).check();
      const manifest = await dialog.getByLabel('Manifest for the Slack app').first().textContent();
      const { oauth_config: oauth, settings } = JSON.parse(manifest ?? '');
      expect(oauth.scopes.bot).toEqual(['chat:write', 'users:read', 'users:read.email']);
      expect(settings.interactivity.request_url).toMatch(/^http.*\/api\/slack\/interactions$/);
      await dialog.getByRole('combobox', { name: 'Connection to Slack' }).click();
      await page.getByRole('option', { name: 'SLACK' }).click();
      await dialog.getByPlaceholder('C0123456789').fill('C0NOWHERE');
      await dialog.locator('input[type=password]').fill(SIGNING_SECRET);
      expect(await obstacles(page)).toEqual([]);
      await pressInDialog(page, 'Save changes');
      await page.getByText('In the channel C0NOWHERE').waitFor();
      expect((await call('GET', '/api/workspace/alerts')).body.slack).toEqual({
        ...{ connection: 'SLACK', channel: 'C0NOWHERE', signing_secret: '***' },
      });
      await page.getByRole('button', { name: 'Send test alert' }).click();
      await eventually(async () => {
        const { channels } = (await call('GET', '/api/workspace/alerts')).body;
        return channels.find(({ channel }: any) => channel === 'slack').problem !== null;
      }, 30_000);
      await page.reload();
      await page.getByText('Slack answered chat.postMessage with channel_not_found').waitFor();
      const wide = await page.evaluate(() => document.documentElement.scrollWidth);
      expect(wide).toBeLessThanOrEqual(390);
      await page.getByRole('button', { name: 'Edit alerts' }).click();
      await dialog.getByPlaceholder('C0123456789').fill('C0GENERAL');
      await pressInDialog(page, 'Save changes');
      await page.getByText('In the channel C0GENERAL').waitFor();
      expect(problems).toEqual([]);
    });

    test('leads to the page on which the member confirms their account, and is named where a decision was made there', async () => {
      const { open, call, engine, url } = stage();
      expect((await call('PUT', '/api/workspace/alerts', slackSettings())).status).toBe(200);
      const { email } = (await call('GET', '/api/auth/me')).body;
      const user = slack.addUser({ email, real_name: 'Ann Lee' });
      const client = slackClient(async ({ body, headers }) => {
        const sent = { method: 'POST', headers, body };
        const answer = await fetch(`${url}/api/slack/interactions`, sent);
        return { status: answer.status, text: await answer.text() };
      }, slack);
      const gate = { id: 'review', kind: 'human_gate', prompt: 'Pay?' } as never;
      const runId = await engine.start({ nodes: [gate, echo('paid')], edges: [] }, {});
      const message = () =>
        slack.messages.find(({ blocks }) => JSON.stringify(blocks).includes(runId));
      await eventually(() => message() !== undefined, 30_000);
      const { page, problems } = await open('/account', { width: 390, height: 844 });
      await page.getByRole('heading', { name: 'Permissions' }).waitFor();
      expect(await page.getByText('Is this your account in Slack?').count()).toBe(0);
      await client.send(client.click(message()!, 'approve', user));
      await eventually(() => slack.ephemeral.length > 0, 20_000);
      const link = slack.ephemeral[0]!.text.match(/http\S+$/)?.[0];
      await page.goto(link ?? '');
      await page.getByText('Ann Lee').waitFor();
      expect(await obstacles(page)).toEqual([]);
      await page.getByRole('button', { name: 'Confirm', exact: true }).click();
      await page.getByText('decides as you in Slack, confirmed').waitFor();
      const opened = await client.open(message()!, 'approve', user);
      await client.send(client.submission(opened, user));
      await page.goto(`${url}/approvals/${runId}/review`);
      await page.getByText(', in Slack').first().waitFor();
      await page.goto(`${url}/account`);
      await page.getByRole('button', { name: 'Remove', exact: true }).click();
      await pressInDialog(page, 'Remove account');
      await page.getByText('Account removed').waitFor();
      expect((await call('GET', '/api/slack/account')).body).toEqual({
        confirmed: null,
        asked: null,
      });
      expect(problems).toEqual([]);
    });
  },
  { env },
);
