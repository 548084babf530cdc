import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type ListingServer, startListingServer } from '#test/fakes/listing-server.ts';
import { obstacles } from './axe.ts';
import { describeConsole, pressInDialog } from './browser.ts';

const schema = { type: 'object', properties: { id: { type: 'string' } } };
let server: ListingServer;
beforeAll(async () => {
  server = await startListingServer([
    { name: 'getOrder', description: 'Reads an order', inputSchema: schema },
    { name: 'orders.refund', description: 'Refunds an order', inputSchema: schema },
    { name: '???', inputSchema: schema },
  ]);
});
afterAll(() => server.close());

describeConsole(
  'the import of tools',
  (stage) => {
    test('lists what a server has, imports the chosen ones, and shows what has changed', async () => {
      const { open, call } = stage();
      const { page, problems } = await open('/tools');
      const dialog = page.getByRole('dialog');
      const list = async (url: string): Promise<void> => {
        await page.getByRole('button', { name: 'Import from MCP' }).click();
        await dialog.getByLabel('URL of the MCP server').fill(url);
        await dialog.getByLabel('Prefix').fill('shop_');
        await dialog.getByRole('button', { name: 'List tools' }).click();
      };
      await list(`${server.url}/mcp`);
      await dialog.getByText('3 tools found').waitFor();
      expect(await dialog.getByRole('checkbox', { name: '???' }).isDisabled()).toBe(true);
      await dialog.getByText('its name has no letter from a to z').waitFor();
      expect(await obstacles(page)).toEqual([]);
      await dialog.getByRole('checkbox', { name: 'shop_orders_refund' }).uncheck();
      await pressInDialog(page, 'Import 1 tool');
      await page.getByText('1 tool imported').waitFor();
      expect((await call('GET', '/api/tools')).body).toMatchObject([
        { name: 'shop_get_order', kind: 'mcp', pinned: true },
      ]);

      server.tools[0]!.description = 'Reads an order, with its lines';
      await list(`${server.url}/mcp`);
      await dialog.getByText('Update available').waitFor();
      await dialog.getByText('New', { exact: true }).waitFor();
      await pressInDialog(page, 'Import 2 tools');
      await page.getByText('2 tools imported').waitFor();
      expect((await call('GET', '/api/tools')).body).toMatchObject([
        { name: 'shop_get_order', description: 'Reads an order, with its lines' },
        { name: 'shop_orders_refund' },
      ]);

      await list('http://127.0.0.1:1/mcp');
      await dialog.getByText(/The tools of this server cannot be listed/).waitFor();
      expect(problems.filter((problem) => !problem.includes('400'))).toEqual([]);
    });
  },
  { env: { EGRESS_ALLOW: '127.0.0.0/8' } },
);
