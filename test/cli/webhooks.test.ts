import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type FakeServer, startHttpServer } from '#test/fakes/http-server.ts';
import { type Service, startService } from '#test/support/served-api.ts';
import { eventually } from '#test/support/engine.ts';
import { createOps, type Ops } from './ops.ts';

let service: Service;
let receiver: FakeServer;
let ops: Ops;
beforeAll(async () => {
  receiver = await startHttpServer((_request, response) => void response.end());
  service = await startService();
  ops = await createOps({ OPS_API_URL: service.apiUrl });
});
afterAll(async () => {
  await service.close();
  await receiver.close();
});

const json = async (...args: string[]): Promise<any> => {
  const ended = await ops(['webhooks', ...args, '-o', 'json']);
  expect(ended).toMatchObject({ code: 0 });
  return ended.json();
};

test('ops webhooks registers, changes, tests, redelivers and deletes an endpoint', async () => {
  const url = `${receiver.url}/hook`;
  const made = await json('create', url, '--event', 'run.completed', 'run.failed');
  expect(made).toMatchObject({ url, events: ['run.completed', 'run.failed'], is_demo: false });
  expect(made.secret).toMatch(/^whsec_/);
  expect(await json('update', url, '--new-url', `${url}/new`)).toMatchObject({ url: `${url}/new` });
  expect(await json('update', `${url}/new`, '--new-url', url)).toMatchObject({ url });
  expect(await json('update', url, '--event', 'run.paused')).toMatchObject({
    id: made.id,
    url,
    events: ['run.paused'],
  });
  expect(await json('show', url)).toMatchObject({ id: made.id, status: 'active' });
  expect(await json('list')).toMatchObject([{ id: made.id }]);
  const { id } = await json('test', url);
  await eventually(async () => (await json('deliveries', url))[0].status === 'delivered', 20_000);
  expect(await json('redeliver', url, id)).toMatchObject({ id, status: 'pending' });
  await eventually(() => receiver.seen.length === 2, 20_000);
  expect(await json('redeliver', url)).toEqual({ redelivered: 0, left: 0 });
  expect((await json('rotate-secret', made.id)).secret).not.toBe(made.secret);
  expect(await json('deliveries', url, '--status', 'dead')).toEqual([]);
  expect(await ops(['webhooks', 'delete', url])).toMatchObject({ code: 0 });
  expect(await json('list')).toEqual([]);
}, 60_000);

test.each([
  [['create', 'http://127.0.0.1:9/', '--event', 'run.started'], 1, /events.0 must be one of/],
  [['create', 'http://10.0.0.1/', '--event', 'run.failed'], 1, /is not allowed/],
  [['create', 'http://127.0.0.1:9/'], 2, /--event/],
  [['test', 'http://unknown.example/'], 1, /No webhook has the id or name/],
])('ops webhooks %j ends with %d', async (args, code, message) => {
  const ended = await ops(['webhooks', ...args]);
  expect([ended.code, ended.stderr]).toEqual([code, expect.stringMatching(message)]);
});
