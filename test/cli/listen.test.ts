import { spawn } from 'node:child_process';
import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import { type Client, createClient, verifyWebhook } from '#client/index.ts';
import type { OutboundEventType } from '#shared/contract/data/outbound.ts';
import { newId } from '#shared/crypto/ids.ts';
import { sql } from '#shared/db/pool.ts';
import { queueEvents } from '#shared/db/webhooks/outbound-events.ts';
import { freePorts } from '#scripts/stack/ports.ts';
import { type FakeServer, startHttpServer } from '#test/fakes/http-server.ts';
import { echo, eventually } from '#test/support/engine.ts';
import { hostAndPort, type Proxy, startProxy } from '#test/support/proxy.ts';
import { type Service, startService } from '#test/support/served-api.ts';
import { createOps, type Ops, type Started } from './ops.ts';

let service: Service;
let proxy: Proxy;
let client: Client;
let ops: Ops;
let receiver: FakeServer;
let status = 200;
let started: Started[] = [];

beforeAll(async () => {
  service = await startService({ EGRESS_ALLOW: '127.0.0.0/8' });
  proxy = await startProxy(hostAndPort(service.apiUrl));
  client = createClient({ baseUrl: service.apiUrl });
  receiver = await startHttpServer((_request, response) => {
    response.writeHead(status).end(status === 200 ? '' : 'no such order');
  });
});
afterAll(async () => {
  await receiver.close();
  await proxy.close();
  await service.close();
});
beforeEach(async () => {
  ops = await createOps({ OPS_API_URL: `http://${proxy.address}` });
  receiver.seen.length = 0;
  status = 200;
});
afterEach(async () => {
  proxy.restore();
  await Promise.all(started.map((each) => each.end()));
  started = [];
  await service.engine.db.query(sql.unsafe`DELETE FROM data_endpoints`);
});

const listenTo = ['--forward-to', '127.0.0.1:1/hook'];
const toReceiver = () => ['--forward-to', `${receiver.url}/hook`];

/** Starts `ops listen`, and waits until it forwards. */
async function listening(...args: string[]): Promise<Started> {
  const listener = ops.start(['listen', ...toReceiver(), ...args]);
  started.push(listener);
  await listener.printed(/listening|Signing secret/);
  return listener;
}

const happen = (n: number, type: OutboundEventType = 'run.failed') =>
  queueEvents(service.engine.db, service.engine.actor.workspaceId, [
    { type, isDemo: null, data: { n } },
  ]);
const received = (): number[] => receiver.seen.map(({ body }) => JSON.parse(body).data.n);
const until = (...numbers: number[]): Promise<void> =>
  eventually(() => JSON.stringify(received()) === JSON.stringify(numbers), 30_000);
const secretIn = ({ output }: Started): string => /whsec_\S+/.exec(output())?.[0] ?? '';
const eventIds = (text: string): string[] => text.match(/oevt_\w+/g) ?? [];

describe('ops listen', () => {
  test('forwards the events of runs, signed as deliveries are, with a line for each', async () => {
    const listener = await listening('--events', 'run.*');
    const flow = await client.createWorkflow({
      name: 'One step',
      graph: { nodes: [echo('a') as never], edges: [] },
    });
    const run = await client.triggerRun(flow.id, {});
    await listener.printed(/run\.completed {2,}oevt_\w+ {2}200 {2}\d+ ms/);
    const [request] = receiver.seen;
    expect([request?.method, request?.url]).toEqual(['POST', '/hook']);
    const headers = request?.headers as Record<string, string>;
    const signature = headers['x-service-signature'];
    const secret = secretIn(listener);
    const event = await verifyWebhook({ secret, signature, body: request!.body });
    expect(event).toMatchObject({ type: 'run.completed', data: { run: { id: run.id } } });
    await expect(verifyWebhook({ secret, signature, body: `${request!.body} ` })).rejects.toThrow(
      'does not fit',
    );
    const ended = await listener.end();
    expect([ended.code, ended.stderr]).toEqual([0, '']);
    expect(ended.stdout).toMatch(/Stopped: 1 accepted, 0 failed\n$/);
  });

  test('sends the bytes and headers that the endpoint of the events receives', async () => {
    const hook = await startHttpServer((_request, response) => void response.end());
    const { id } = await client.createEndpoint({ url: hook.url, events: ['run.failed'] });
    await listening('--endpoint', hook.url);
    await happen(1);
    await until(1);
    await eventually(() => hook.seen.length === 1);
    await hook.close();
    const [sent, forwarded] = [hook.seen[0]!, receiver.seen[0]!];
    expect(forwarded.body).toBe(sent.body);
    const names = (headers: object): string[] =>
      Object.keys(headers).filter((name) =>
        /^(webhook|x-service|content-type|user-agent)/.test(name),
      );
    expect(names(forwarded.headers).sort()).toEqual(names(sent.headers).sort());
    for (const name of ['x-service-delivery', 'x-service-event', 'webhook-id', 'user-agent']) {
      expect([name, forwarded.headers[name]]).toEqual([name, sent.headers[name]]);
    }
    const listed = (await client.listEndpoints()).map((endpoint) => endpoint.id);
    expect(listed).toEqual([id]);
  });

  test('has one listener per name, and one secret per workspace, which only its owner can read', async () => {
    const first = await listening('--events', 'run.failed', '--name', 'ada');
    const second = await listening('--events', 'approval.*', '--name', 'ada');
    const third = await listening();
    expect(new Set([first, second, third].map(secretIn)).size).toBe(1);
    const endpoints = await client.listEndpoints();
    expect(endpoints).toHaveLength(2);
    const shared = endpoints.find(({ url }) => url === 'listen:ada');
    expect(shared?.events).toEqual(['run.failed', 'approval.requested']);
    const path = join(ops.configFolder, 'ops', 'listen.json');
    expect((await stat(path)).mode & 0o777).toBe(0o600);
    expect(await readFile(path, 'utf8')).toContain(secretIn(first));
    // Each forwards only what it was started for.
    await happen(1, 'approval.requested');
    await third.printed(/approval\.requested/);
    await second.printed(/approval\.requested/);
    expect(first.output()).not.toContain('approval.requested');
  });

  test('loses nothing and sends nothing twice when the connection breaks', async () => {
    const listener = await listening();
    await happen(1);
    await until(1);
    proxy.cut();
    await listener.printed(/cannot be reached.*Trying again/);
    await happen(2);
    await happen(3);
    proxy.restore();
    await listener.printed(/answers again/);
    await until(1, 2, 3);
    await happen(4);
    await until(1, 2, 3, 4);
  });

  test('forwards an event that becomes visible behind a later one, once', async () => {
    await listening();
    const late = new pg.Client({ connectionString: service.engine.databaseUrl });
    await late.connect();
    await late.query('BEGIN');
    const event = [
      { id: newId('outboundEvent'), type: 'run.failed', is_demo: null, data: { n: 1 } },
    ];
    const { workspaceId } = service.engine.actor;
    await late.query('SELECT queue_events_1($1, $2, NULL, 10)', [
      workspaceId,
      JSON.stringify(event),
    ]);
    await happen(2);
    await until(2);
    await late.query('COMMIT');
    await late.end();
    await until(2, 1);
    // The read that finds such events comes again, before this event.
    await happen(3);
    await until(2, 1, 3);
  });

  test('begins with the next event, or with earlier ones on request', async () => {
    const first = await listening();
    await happen(1);
    await until(1);
    expect((await first.end()).code).toBe(0);
    await happen(2);
    const second = await listening();
    await happen(3);
    await until(1, 3);
    await second.end();
    receiver.seen.length = 0;
    await listening('--since', '10m');
    await until(1, 2, 3);
  });

  test('shows a failed event, does not repeat it, and replays it', async () => {
    const listener = await listening();
    status = 404;
    await happen(1);
    const text = await listener.printed(/404 {2}\d+ ms {2}no such order\n.*ops listen/);
    const [eventId = ''] = eventIds(text);
    await happen(2);
    await until(1, 2);
    await listener.end();
    const replay = (...args: string[]) => ops(['listen', ...toReceiver(), '--replay', ...args]);
    expect(await replay(eventId)).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('404'),
      stderr: 'ops: The event was not accepted\n',
    });
    status = 200;
    const again = await replay(eventId, '--json');
    expect(again.json()).toMatchObject({
      type: 'event',
      event_id: eventId,
      status: 200,
      error: null,
    });
    const [before, , , after] = receiver.seen;
    expect(after!.body).toBe(before!.body);
    const signature = String(after!.headers['x-service-signature']);
    const secret = secretIn(listener);
    await verifyWebhook({ secret, signature, body: after!.body });
    expect((await replay('oevt_unknown')).stderr).toContain("has no event 'oevt_unknown'");
    expect((await replay(eventId, '--name', 'grace')).stderr).toContain('no listener');
  });

  test('continues when nothing answers at the address', async () => {
    const [port] = await freePorts(1);
    const listener = ops.start(['listen', '--forward-to', `localhost:${port}/hook`, '--json']);
    started.push(listener);
    await listener.printed(/listening/);
    await happen(1);
    await happen(2);
    await listener.printed(/(ECONNREFUSED[^]*){2}/);
    const lines = listener
      .output()
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines).toMatchObject([
      { type: 'listening', forward_to: `http://localhost:${port}/hook` },
      { event: 'run.failed', status: null, error: 'ECONNREFUSED' },
      { event: 'run.failed', status: null, error: 'ECONNREFUSED' },
    ]);
  });

  test('registers its listener again when it was deleted', async () => {
    const listener = await listening();
    const [endpoint] = await client.listEndpoints();
    await client.deleteEndpoint(endpoint!.id);
    await listener.printed(/was deleted: registering it again/);
    await eventually(async () => (await client.listEndpoints()).length === 1);
    await happen(1);
    await until(1);
  });

  test('forwards a test event, also if it was started for other events', async () => {
    await listening('--events', 'run.failed', '--name', 'ada');
    expect(await ops(['webhooks', 'test', 'listen:ada'])).toMatchObject({ code: 0 });
    await eventually(() => receiver.seen.length === 1);
    expect(JSON.parse(receiver.seen[0]!.body).type).toBe('ping');
  });

  test.each([
    [['--events', 'run.*,gate.*'], 2, "--events 'gate.*' matches none of entity.created"],
    [['--events', 'run.(.+)+'], 2, 'matches none of'],
    [['--forward-to', 'ftp://a.example'], 2, "--forward-to 'ftp://a.example' is not an address"],
    [['--name', 'Ada Lovelace'], 2, "--name 'Ada Lovelace' has other characters"],
    [['--since', 'yesterday'], 2, "--since 'yesterday' is neither"],
    [['--endpoint', 'end_unknown'], 1, 'Webhook endpoint not found (404)'],
    [['--endpoint', 'https://a.example'], 1, "No webhook has the id or name 'https://a.example'"],
    [['--replay', 'oevt_1', '--since', '1h'], 2, 'cannot be used with'],
    [['--endpoint', 'end_1', '--name', 'ada'], 2, 'cannot be used with'],
  ])('with %j ends with %i', async (args, code, message) => {
    const ended = await ops(['listen', ...listenTo, ...args]);
    expect([ended.code, ended.stderr]).toEqual([code, expect.stringContaining(message)]);
  });

  test('needs the permission to register endpoints, and a service', async () => {
    const { secret } = await client.createApiKey({ name: 'CI', role: 'viewer' });
    const refused = await ops(['listen', ...listenTo], { env: { OPS_API_KEY: secret } });
    expect(refused.code).toBe(1);
    expect(refused.stderr).toContain("requires the 'manage_workspace' permission");
    const [endpoint] = [await client.createEndpoint({ url: 'listen:ada', events: ['ping'] })];
    const given = [...listenTo, '--endpoint', endpoint.id];
    const reader = await ops(['listen', ...given], { env: { OPS_API_KEY: secret } });
    expect([reader.code, reader.stderr]).toEqual([1, expect.stringContaining('manage_workspace')]);
    proxy.cut();
    expect((await ops(['listen', ...listenTo])).code).toBe(3);
  });

  test('as a process ends with 0 after Ctrl-C', async () => {
    const args = [ops.script, 'listen', ...toReceiver()];
    const child = spawn(process.execPath, args, { env: ops.env });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => (text += part));
    const ended = new Promise((resolve) => child.once('close', resolve));
    await eventually(() => text.includes('Ctrl-C ends'), 60_000);
    await happen(1);
    await until(1);
    child.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(text).toContain('Stopped: 1 accepted');
  });
});
