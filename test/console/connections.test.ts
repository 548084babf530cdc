import { afterEach, expect, test } from '@jest/globals';
import {
  type AuthorizationServer,
  CLIENT,
  startAuthorizationServer,
} from '#test/fakes/authorization-server.ts';
import { obstacles } from './axe.ts';
import { describeConsole, pressInDialog } from './browser.ts';

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
