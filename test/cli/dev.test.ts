import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { type Client, createClient } from '#client/index.ts';
import { freePorts } from '#scripts/stack/ports.ts';
import { type FakeServer, startHttpServer } from '#test/fakes/http-server.ts';
import { eventually } from '#test/support/engine.ts';
import { hostAndPort, type Proxy, startProxy } from '#test/support/proxy.ts';
import { type Service, startService } from '#test/support/served-api.ts';
import { createOps, type Ops, type Started } from './ops.ts';

let service: Service;
let proxy: Proxy;
let client: Client;
let receiver: FakeServer;
let ops: Ops;
let folder: string;
let started: Started[] = [];

beforeAll(async () => {
  service = await startService();
  proxy = await startProxy(hostAndPort(service.apiUrl));
  client = createClient({ baseUrl: service.apiUrl });
  receiver = await startHttpServer((_request, response) => void response.end());
  ops = await createOps({ OPS_API_URL: `http://${proxy.address}` });
});
afterAll(async () => {
  await receiver.close();
  await proxy.close();
  await service.close();
});
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'dev-'));
});
afterEach(async () => {
  proxy.restore();
  await Promise.all(started.map((each) => each.end()));
  started = [];
  for (const { id } of await client.listWorkflows()) await client.deleteWorkflow(id);
  await rm(folder, { recursive: true, force: true });
});

function dev(...args: string[]): Started {
  const running = ops.start(['dev', folder, ...args]);
  started.push(running);
  return running;
}

/** The text of a workflow that returns what the expression gives. */
const text = (name: string, expression: string): string =>
  `name: ${name}\ngraph:\n  nodes:\n    - {id: a, kind: tool, tool_name: json_transform, params: {expression: "${expression}"}}\n  edges: []\n`;
const write = (file: string, content: string): Promise<void> =>
  writeFile(join(folder, file), content);
const expressionOf = async (name: string): Promise<unknown> => {
  const all = await client.listWorkflows();
  const found = all.find((workflow) => workflow.name === name);
  if (found === undefined) return undefined;
  const [node] = (await client.getWorkflow(found.id)).graph.nodes;
  return (node as { params?: { expression?: string } } | undefined)?.params?.expression;
};

test('ops dev applies the files at the start and after each change, in subfolders too', async () => {
  await write('first.yaml', text('First', '1'));
  const running = dev();
  await running.printed(/first\.yaml: created \(First\)\n1 workflow: 1 created/);
  expect(await expressionOf('First')).toBe('1');
  await write('first.yaml', text('First', '2'));
  await running.printed(/first\.yaml: updated \(First\)/);
  expect(await expressionOf('First')).toBe('2');
  await mkdir(join(folder, 'more'));
  await write('more/second.yaml', text('Second', '3'));
  await running.printed(/second\.yaml: created \(Second\)\n2 workflows: 1 created, 1 unchanged/);
  // As editors do: a new file takes the place of the old one.
  await write('.draft', text('Second', '4'));
  await rename(join(folder, '.draft'), join(folder, 'more/second.yaml'));
  await running.printed(/second\.yaml: updated \(Second\)/);
  expect(await expressionOf('Second')).toBe('4');
  expect((await client.listWorkflows()).every(({ status }) => status !== 'published')).toBe(true);
  const ended = await running.end();
  expect([ended.code, ended.stderr]).toEqual([0, '']);
}, 120_000);

test('an error is printed as ops apply prints it, and nothing changes until it is mended', async () => {
  await write('first.yaml', text('First', '1'));
  const running = dev('--publish');
  await running.printed(/created/);
  await write('first.yaml', text('First', '2'));
  await write('broken.yaml', text('Broken', '1').replace('params', 'parms'));
  await running.printed(/broken\.yaml:\d+:\d+: .*parms[^]*nothing was changed/);
  const { stderr, code } = await ops(['apply', '-f', folder]);
  expect(code).toBe(1);
  expect(running.output()).toContain(stderr);
  await write('broken.yaml', text('Broken', '1'));
  await running.printed(/broken\.yaml: created \(Broken\)/);
  expect(await expressionOf('First')).toBe('2');
  expect((await client.listWorkflows()).map(({ status }) => status)).toEqual([
    'published',
    'published',
  ]);
}, 120_000);

test('a deleted file does not delete its workflow', async () => {
  await write('first.yaml', text('First', '1'));
  await write('second.yaml', text('Second', '1'));
  const running = dev();
  await running.printed(/2 workflows: 2 created/);
  await rm(join(folder, 'second.yaml'));
  await running.printed(/second\.yaml: deleted\. Its workflow stays/);
  await rm(join(folder, 'first.yaml'));
  await running.printed(/first\.yaml: deleted[^]*has no workflow files/);
  expect(await client.listWorkflows()).toHaveLength(2);
}, 120_000);

test('a change is applied when the service answers again', async () => {
  const running = dev();
  await running.printed(/has no workflow files/);
  proxy.cut();
  await write('first.yaml', text('First', '1'));
  await running.printed(/cannot be reached/);
  proxy.restore();
  await running.printed(/first\.yaml: created/);
}, 120_000);

test('with --forward-to it forwards events, and as JSON it prints a line for each', async () => {
  await write('first.yaml', text('First', '1'));
  const running = dev(
    '--forward-to',
    receiver.url,
    '--events',
    'run.completed',
    '--name',
    'ada',
    '--json',
  );
  await running.printed(/listening/);
  await running.printed(/"applied"/);
  await client.run('First', {}, { wait: true });
  await eventually(() => receiver.seen.length === 1, 30_000);
  await running.printed(/run\.completed/);
  const { stdout, code } = await running.end();
  expect(code).toBe(0);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  expect(lines.map(({ type }) => type).sort()).toEqual(['applied', 'event', 'listening']);
  expect((await client.listEndpoints()).map(({ url }) => url)).toEqual(['listen:ada']);
}, 120_000);

test('it ends with what ops listen refuses', async () => {
  const ended = await ops(['dev', folder, '--forward-to', receiver.url, '--events', 'gate.*']);
  expect([ended.code, ended.stderr]).toEqual([2, expect.stringContaining("'gate.*' matches none")]);
}, 60_000);

test('it refuses a folder that does not exist, and a file', async () => {
  const missing = await ops(['dev', join(folder, 'missing')]);
  expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining('cannot be read')]);
  await write('first.yaml', text('First', '1'));
  const file = await ops(['dev', join(folder, 'first.yaml')]);
  expect([file.code, file.stderr]).toEqual([2, expect.stringContaining('is not a folder')]);
}, 60_000);

test('with an address at which no service answers it continues, and does not start one', async () => {
  const [port] = await freePorts(1);
  await write('first.yaml', text('First', '1'));
  const running = dev('--url', `http://127.0.0.1:${port}`);
  await running.printed(/127\.0\.0\.1:\d+ cannot be reached/);
  expect((await running.end()).code).toBe(0);
}, 60_000);
