import { afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { runEventTypes } from '#shared/contract/data/outbound.ts';
import { sql } from '#shared/db/pool.ts';
import { connectMcp } from '#test/fakes/mcp-client.ts';
import { addDataKey } from '#test/api/data/data-key.ts';
import { useTestApi } from '#test/api/test-api.ts';

// Webhook endpoints for events of runs, over /api/webhooks and MCP. The rest of their operations is in
// data/endpoints.test.ts, and their deliveries in engine/run-webhooks.test.ts.

const api = useTestApi({
  ENCRYPTION_KEY: 'a key for the tests alone',
  EGRESS_ALLOW: '127.0.0.0/8',
});
let url: string;
beforeAll(async () => {
  await api.app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(api.app.server.address() as { port: number }).port}`;
});
afterEach(async () => {
  await api.db.query(sql.unsafe`DELETE FROM data_endpoints`);
});

const base = '/api/webhooks';
const good = { url: 'http://127.0.0.1:9/hook', events: [...runEventTypes] };

describe('an endpoint of members', () => {
  test('is created, read, pinged and deleted', async () => {
    const { status, body, headers } = await api.call('POST', base, good);
    expect([status, headers['location']]).toEqual([201, `${base}/${body.id}`]);
    const { secret: _secret, ...shown } = body;
    expect((await api.call('GET', base)).body).toEqual([shown]);
    expect((await api.call('GET', `${base}/${body.id}`)).body).toEqual(shown);
    expect((await api.call('POST', `${base}/${body.id}/ping`)).status).toBe(201);
    const { deliveries } = (await api.call('GET', `${base}/${body.id}/deliveries`)).body;
    expect(deliveries.map(({ type }: { type: string }) => type)).toEqual(['ping']);
    expect((await api.call('DELETE', `${base}/${body.id}`)).status).toBe(204);
    expect((await api.call('GET', base)).body).toEqual([]);
  });

  test('with events of runs is hidden from keys of the data API', async () => {
    const { headers } = await addDataKey(api);
    const { body } = await api.call('POST', base, { ...good, events: ['entity.created'] });
    const seen = async () => (await api.call('GET', '/v1/webhooks', undefined, headers)).body.data;
    expect(await seen()).toHaveLength(1);
    const events = ['entity.created', 'run.failed'];
    expect((await api.call('PUT', `${base}/${body.id}`, { events })).body.events).toEqual(events);
    expect(await seen()).toEqual([]);
    for (const [method, path] of [
      ['DELETE', ''],
      ['POST', '/rotate-secret'],
      ['POST', '/ping'],
      ['GET', '/deliveries'],
    ] as const) {
      const refused = await api.call(method, `/v1/webhooks/${body.id}${path}`, undefined, headers);
      expect([path, refused.status]).toEqual([path, 404]);
    }
    const refused = await api.call('POST', '/v1/webhooks', good, headers);
    expect([refused.status, refused.body.detail]).toEqual([422, expect.stringContaining('events')]);
  });

  test.each([
    [{ ...good, events: ['run.started'] }, /events.0 must be one of/],
    [{ ...good, url: 'http://10.0.0.1/' }, /url: The address of '.+' is not allowed/],
  ])('is refused as %j', async (body, detail) => {
    const answer = await api.call('POST', base, body);
    expect([answer.status, answer.body.detail]).toEqual([400, expect.stringMatching(detail)]);
    expect((await api.call('GET', base)).body).toEqual([]);
  });
});

test('MCP tools can register, change, test and delete an endpoint', async () => {
  const client = await connectMcp(`${url}/api/mcp`);
  await client.listTools();
  const use = async (name: string, args: object = {}) => {
    const result: any = await client.callTool({ name, arguments: { ...args } });
    return result.isError === true ? result.content[0].text : result.structuredContent;
  };
  const { id: webhook, secret } = await use('create_webhook', good);
  expect(secret).toMatch(/^whsec_/);
  expect(await use('create_webhook', { ...good, url: 'http://10.0.0.1/' })).toContain(
    'is not allowed',
  );
  const events = ['run.failed'];
  expect(await use('update_webhook', { webhook, events })).toMatchObject({ id: webhook, events });
  expect(await use('list_webhooks')).toMatchObject({ webhooks: [{ id: webhook, events }] });
  expect((await use('rotate_webhook_secret', { webhook })).secret).not.toBe(secret);
  const { id: delivery } = await use('test_webhook', { webhook });
  expect(await use('redeliver_webhook', { webhook, delivery })).toContain('is pending');
  await api.db.query(sql.unsafe`UPDATE data_deliveries SET status = 'dead' WHERE id = ${delivery}`);
  expect(await use('redeliver_webhook', { webhook, delivery })).toMatchObject({
    id: delivery,
    status: 'pending',
  });
  const listed = await use('list_webhook_deliveries', { webhook, status: 'pending' });
  expect(listed.deliveries).toMatchObject([{ id: delivery, type: 'ping' }]);
  const [{ etag }] = (await use('list_webhooks')).webhooks;
  const moved = { webhook, url: `${good.url}/moved`, if_match: etag };
  expect(await use('update_webhook', moved)).toMatchObject({ url: moved.url });
  const refused: any = await client.callTool({ name: 'update_webhook', arguments: moved });
  expect(refused.content[0].text).toContain('has changed since you read it');
  const { current } = JSON.parse(refused.content[1].text);
  expect(current).toMatchObject({ url: moved.url });
  expect(await use('delete_webhook', { webhook, if_match: etag })).toContain('has changed since');
  const known = { webhook, if_match: current.etag };
  expect(await use('delete_webhook', known)).toEqual({ deleted: webhook });
  expect(await use('test_webhook', { webhook })).toBe('Webhook endpoint not found');
  await client.close();
});
