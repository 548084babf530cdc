import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  type AuthorizationServer,
  startAuthorizationServer,
} from '#test/fakes/authorization-server.ts';
import {
  type ProtectedMcpServer,
  startProtectedMcpServer,
} from '#test/fakes/protected-mcp-server.ts';
import { obstacles } from './axe.ts';
import { describeConsole, pressInDialog } from './browser.ts';

let server: AuthorizationServer;
let tools: ProtectedMcpServer;
beforeAll(async () => {
  server = await startAuthorizationServer({ redirectUris: [], isOfMcp: true });
  tools = await startProtectedMcpServer(server);
});
afterAll(() => Promise.all([server.close(), tools.close()]));

describeConsole(
  'an MCP server that requires sign-in',
  (stage) => {
    test('is signed in to from the import of its tools, which then has the connection', async () => {
      const { open, call } = stage();
      const { page } = await open('/tools');
      await page.getByRole('button', { name: 'Import tools' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('URL of the MCP server').fill(tools.address);
      await dialog.getByRole('button', { name: 'List tools' }).click();
      await dialog.getByText('This server requires sign-in').waitFor();
      expect(await dialog.getByLabel('Name of the connection').inputValue()).toBe('MCP_127_0_0_1');
      expect(await obstacles(page)).toEqual([]);
      await dialog.getByLabel('Name of the connection').fill('TOOLS');
      await dialog.getByRole('button', { name: 'Create connection and sign in' }).click();

      await page.getByText('Signed in to TOOLS').waitFor();
      expect(await obstacles(page)).toEqual([]);
      await page.getByRole('link', { name: 'Import its tools' }).click();
      expect(await dialog.getByLabel('URL of the MCP server').inputValue()).toBe(tools.address);
      expect(await dialog.getByLabel('Authentication').first().inputValue()).toBe('TOOLS');
      await dialog.getByRole('button', { name: 'List tools' }).click();
      await dialog.getByText('3 tools found').waitFor();
      await pressInDialog(page, 'Import 3 tools');
      await page.getByText('3 tools imported').waitFor();
      const { body } = await call('GET', '/api/tools');
      expect(body).toContainEqual(
        expect.objectContaining({ name: 'add', auth: { connection: 'TOOLS', as: 'bearer' } }),
      );
    });

    test('is listed with its connection after one click, if that is signed in to', async () => {
      const { page } = await stage().open('/tools');
      await page.getByRole('button', { name: 'Import tools' }).click();
      const dialog = page.getByRole('dialog');
      await dialog.getByLabel('URL of the MCP server').fill(tools.address);
      await dialog.getByRole('button', { name: 'List tools' }).click();
      await dialog.getByRole('button', { name: 'Use TOOLS' }).click();
      await dialog.getByText('3 tools found').waitFor();
    });

    test('is connected to from the page that an error names', async () => {
      const { open, call } = stage();
      const query = new URLSearchParams({ mcp_server: tools.address });
      const { page } = await open(`/connections?${query.toString()}`);
      const dialog = page.getByRole('dialog');
      expect(await dialog.getByLabel('URL of the MCP server').inputValue()).toBe(tools.address);
      expect(await obstacles(page)).toEqual([]);
      await dialog.getByLabel('Name').fill('OTHER');
      await pressInDialog(page, 'Create connection');
      await page.getByRole('button', { name: 'Sign in to OTHER' }).waitFor();
      const { body } = await call('GET', '/api/connections');
      const { id } = body.find((each: { name: string }) => each.name === 'OTHER');
      const { page: linked } = await open(`/connections?connection=${id}`);
      await linked.getByRole('status').getByRole('button', { name: 'Sign in to OTHER' }).click();
      await linked.getByText('Signed in to OTHER').waitFor();
    });
  },
  {
    env: { EGRESS_ALLOW: '127.0.0.0/8', ENCRYPTION_KEY: 'a key of this test, long enough' },
  },
);
