import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type FakeServer, sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import { type ListingServer, startListingServer } from '#test/fakes/listing-server.ts';
import { obstacles } from './axe.ts';
import { describeConsole, pressInDialog } from './browser.ts';

const schema = { type: 'object', properties: { id: { type: 'string' } } };
let server: ListingServer;
let shop: FakeServer;
let numbers = 'string';
const shopDocument = (url: string) => ({
  openapi: '3.1.0',
  info: { title: 'Shop', version: '2' },
  servers: [{ url: `${url}/v1` }],
  components: {
    securitySchemes: { key: { type: 'apiKey', in: 'header', name: 'X-Api-Key' } },
  },
  paths: {
    '/orders/{number}': {
      parameters: [{ name: 'number', in: 'path', required: true, schema: { type: numbers } }],
      get: { operationId: 'getOrder', summary: 'Get an order', responses: {} },
      delete: { operationId: 'deleteOrder', responses: {} },
    },
  },
});
beforeAll(async () => {
  shop = await startHttpServer((request, response) =>
    sendJson(response, 200, request.url === '/openapi.json' ? shopDocument(shop.url) : {}),
  );
  server = await startListingServer([
    { name: 'getOrder', description: 'Reads an order', inputSchema: schema },
    { name: 'orders.refund', description: 'Refunds an order', inputSchema: schema },
    { name: '???', inputSchema: schema },
  ]);
});
afterAll(async () => {
  await server.close();
  await shop.close();
});

describeConsole(
  'the import of tools',
  (stage) => {
    test('lists what a server has, imports the chosen ones, and shows what has changed', async () => {
      const { open, call } = stage();
      const { page, problems } = await open('/tools');
      const dialog = page.getByRole('dialog');
      const list = async (url: string): Promise<void> => {
        await page.getByRole('button', { name: 'Import tools' }).click();
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

    test('shows the operations of an API document, with a secret for the chosen ones', async () => {
      const { open, call } = stage();
      const host = new URL(shop.url).host;
      const secret = { value: 'demo-value-0123456789', allowed_hosts: [host] };
      await call('PUT', '/api/secrets/SHOP_KEY', secret);
      const { page, problems } = await open('/tools');
      const dialog = page.getByRole('dialog');
      await page.getByRole('button', { name: 'Import tools' }).click();
      await dialog.getByText('API document', { exact: true }).click();
      await dialog.getByLabel('URL of the OpenAPI document').fill(`${shop.url}/openapi.json`);
      expect(await obstacles(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'List tools' }).click();
      await dialog.getByText('2 tools found · Shop 2').waitFor();
      await dialog.getByText('DELETE /orders/{number}').waitFor();
      await dialog.getByRole('checkbox', { name: 'delete_order' }).uncheck();
      await dialog.getByRole('combobox', { name: 'Authentication' }).click();
      await page.getByRole('option', { name: 'SHOP_KEY' }).click();
      expect(await dialog.getByLabel('Sent as').inputValue()).toBe('header:X-Api-Key');
      expect(await obstacles(page)).toEqual([]);
      await pressInDialog(page, 'Import 1 tool');
      const card = page.getByRole('article', { name: 'custom:get_order' });
      await card.getByText('authenticates with SHOP_KEY').waitFor();

      numbers = 'integer';
      await card.getByRole('button', { name: 'Check for changes' }).click();
      await dialog.getByRole('button', { name: 'Compare' }).click();
      await dialog.getByText('The tool is not called until you accept the changes.').waitFor();
      expect(await obstacles(page)).toEqual([]);
      await dialog.getByRole('button', { name: 'Cancel' }).click();
      await card.getByText('Changed in its document').waitFor();
      await card.getByRole('button', { name: 'Check for changes' }).click();
      await dialog.getByRole('button', { name: 'Compare' }).click();
      await pressInDialog(page, 'Accept changes');
      await page.getByText('Changes accepted').waitFor();
      const { body: tools } = await call('GET', '/api/tools?limit=100');
      expect(tools.find(({ name }: { name: string }) => name === 'get_order')).toMatchObject({
        auth: { secret: 'SHOP_KEY', as: 'header:X-Api-Key' },
        input_schema: { properties: { number: { type: 'integer' } } },
        changed: false,
      });

      await card.getByRole('button', { name: 'Edit get_order' }).click();
      expect(await dialog.getByLabel('URL', { exact: true }).count()).toBe(0);
      await dialog.getByLabel('Label').fill('An order');
      await pressInDialog(page, 'Save changes');
      await card.getByRole('heading', { name: 'An order' }).waitFor();
      expect(problems).toEqual([]);
    });
  },
  { env: { EGRESS_ALLOW: '127.0.0.0/8', ENCRYPTION_KEY: 'a key of this test, long enough' } },
);
