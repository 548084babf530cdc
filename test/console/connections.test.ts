import { afterEach, expect, test } from '@jest/globals';
import {
  type AuthorizationServer,
  CLIENT,
  startAuthorizationServer,
} from '#test/fakes/authorization-server.ts';
import { sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import { obstacles } from './axe.ts';
import { describeConsole, personOf, pressInDialog } from './browser.ts';

let server: AuthorizationServer | undefined;
afterEach(async () => {
  await server?.close();
  server = undefined;
});

describeConsole(
  'connections',
  (stage) => {
    test('are created from an issuer, signed in to, disconnected and deleted', async () => {
      const { open, call, url } = stage();
      server = await startAuthorizationServer({
        redirectUris: [`${url}/api/connections/callback`],
      });
      const { page, problems } = await open('/connections');
      await page.getByText('No connections yet').waitFor();
      expect(await obstacles(page)).toEqual([]);
      await page.getByRole('button', { name: 'New connection' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Name').fill('SHOP');
      await dialog.getByLabel('Client ID').fill(CLIENT.client_id);
      await dialog.getByLabel('Client secret').first().fill(CLIENT.client_secret);
      await dialog.getByLabel('Issuer').fill(server.issuer);
      await dialog.getByLabel('Scopes').first().fill('openid');
      await page.keyboard.press('Enter');
      await dialog.getByLabel('Allowed hosts').first().fill('api.example.com');
      await page.keyboard.press('Enter');
      expect(await obstacles(page)).toEqual([]);
      await pressInDialog(page, 'Create connection');

      await page.getByText('Not signed in').waitFor();
      await page.getByRole('button', { name: 'Sign in to SHOP' }).click();
      await page.getByText('Signed in to SHOP').waitFor();
      await page.getByText('Connected', { exact: true }).waitFor();
      expect(await obstacles(page)).toEqual([]);
      const [{ id }] = (await call('GET', '/api/connections')).body;
      expect((await call('GET', `/api/connections/${id}`)).body).toMatchObject({
        status: 'connected',
        allowed_hosts: ['api.example.com'],
      });

      await page.getByRole('button', { name: 'Edit SHOP' }).click();
      await dialog.getByText(`${url}/api/connections/callback`).waitFor();
      await dialog.getByLabel('Allowed hosts').first().fill('other.example.com');
      await page.keyboard.press('Enter');
      await dialog.getByRole('button', { name: 'Save changes' }).click();
      await dialog.getByText(/send it again/).waitFor();
      await dialog.getByRole('button', { name: 'Cancel' }).click();

      await page.getByRole('button', { name: 'Disconnect SHOP' }).click();
      await pressInDialog(page, 'Disconnect');
      await page.getByText('Not signed in').waitFor();
      await page.getByRole('button', { name: 'Delete SHOP' }).click();
      await pressInDialog(page, 'Delete connection');
      await page.getByText('No connections yet').waitFor();
      expect(problems.filter((problem) => !problem.includes('400'))).toEqual([]);
    });

    test('show whose sign-in a run waits for, and continue it after the sign-in', async () => {
      const { open, call, url } = stage();
      server = await startAuthorizationServer({
        redirectUris: [`${url}/api/connections/callback`],
      });
      const { client_id, client_secret } = CLIENT;
      const target = await startHttpServer((_request, response) => sendJson(response, 200, {}));
      try {
        const made = await call('POST', '/api/connections', {
          ...{ name: 'MAIL', owner: 'member', issuer: server.issuer, client_id, client_secret },
          ...{ scopes: ['openid'], allowed_hosts: [`127.0.0.1:${target.port}`] },
        });
        expect(made.status).toBe(201);
        const nodes = [
          {
            ...{ id: 'send', label: 'Send the mail', kind: 'tool', tool_name: 'http_request' },
            params: { url: target.url, headers: { Authorization: 'Bearer {connections.MAIL}' } },
          },
        ];
        const graph = { nodes, edges: [] };
        const workflow = await call('POST', '/api/workflows', { name: 'Mail', graph });
        const own = await call('POST', `/api/workflows/${workflow.body.id}/runs`, {});
        const ann = await personOf(stage(), { role: 'admin', name: 'Ann' });
        const path = `/api/workflows/${workflow.body.id}/runs`;
        const other = await call('POST', path, {}, ann.token);
        expect([own.status, other.status]).toEqual([201, 201]);

        const { page, problems } = await open(`/runs/${other.body.id}`);
        const note = page.getByRole('region', { name: 'What the run waits for' });
        await note.getByText('uses the account of Ann, and waits until Ann signs in').waitFor();
        expect(await note.getByRole('button').count()).toBe(0);

        await page.goto(`${url}/approvals`);
        const list = page.getByRole('region', { name: 'Runs waiting for your sign-in' });
        await list.getByText('Mail · Send the mail').waitFor();
        expect(await list.getByRole('button').count()).toBe(1);
        expect(await obstacles(page)).toEqual([]);

        await page.goto(`${url}/workflows/${workflow.body.id}/edit`);
        await page.locator('.react-flow__node[data-id="send"]').click();
        await page.getByRole('button', { name: 'Approval', exact: true }).click();
        await page.getByLabel('Acts as').selectOption('approver', { timeout: 15_000 });
        await page.getByText('needs an approval that always asks').first().waitFor();

        await page.goto(`${url}/runs/${own.body.id}`);
        await note.getByText('uses your account. Sign in to MAIL').waitFor();
        expect(await obstacles(page)).toEqual([]);
        await note.getByRole('button', { name: 'Sign in to MAIL' }).click();
        await page.getByText('Signed in to MAIL').waitFor();
        await page.goto(`${url}/runs/${own.body.id}`);
        await page.getByText('Success').first().waitFor();
        await call('POST', `/api/runs/${other.body.id}/cancel`);
        expect(problems).toEqual([]);
      } finally {
        await target.close();
      }
    });

    test('fill in what a well-known service is set to', async () => {
      const { page } = await stage().open('/connections');
      await page.getByRole('button', { name: 'New connection' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('Service').selectOption({ label: 'Slack' });
      expect(await dialog.getByLabel('Name').inputValue()).toBe('SLACK');
      expect(await dialog.getByLabel('Token URL').inputValue()).toBe(
        'https://slack.com/api/oauth.v2.access',
      );
      await dialog.getByText('chat:write').waitFor();
    });

    test('say why a sign-in did not succeed', async () => {
      const { page } = await stage().open('/connections?result=error&reason=denied');
      const alert = page.getByRole('alert');
      await alert.getByText('It was declined at the service.').waitFor();
      expect(await obstacles(page)).toEqual([]);
      await alert.getByRole('button', { name: 'Close' }).click();
      await alert.waitFor({ state: 'detached' });
      expect(new URL(page.url()).search).toBe('');
    });
  },
  {
    env: { EGRESS_ALLOW: '127.0.0.0/8', ENCRYPTION_KEY: 'a key of this test, long enough' },
  },
);
