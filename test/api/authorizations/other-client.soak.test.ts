import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, expect, test } from '@jest/globals';
import { freePorts } from '#scripts/stack/ports.ts';
import { eventually } from '#test/support/engine.ts';
import { useAuthorizations } from './authorization-stage.ts';

// A client that others have written, as people use it: a program that an editor starts, which opens the browser.

const stage = useAuthorizations();
const program = createRequire(import.meta.url).resolve('mcp-remote/dist/proxy.js');

let client: ChildProcessWithoutNullStreams | undefined;
let folder: string | undefined;
afterEach(async () => {
  client?.kill();
  if (folder !== undefined) await rm(folder, { recursive: true, force: true });
});

test('mcp-remote signs in, calls tools, and has no access once it is revoked', async () => {
  const person = await stage.person('editor');
  const [port] = await freePorts(1);
  folder = await mkdtemp(join(tmpdir(), 'mcp-remote-'));
  const child = spawn(process.execPath, [program, stage.mcpUrl, String(port), '--allow-http'], {
    // Without a path, it finds no browser, and only says which page to open.
    env: { HOME: folder, MCP_REMOTE_CONFIG_DIR: folder, PATH: '' },
  });
  client = child;
  let said = '';
  const answers = new Map<number, any>();
  child.stderr.on('data', (data: Buffer) => (said += data.toString()));
  let line = '';
  child.stdout.on('data', (data: Buffer) => {
    const lines = (line + data.toString()).split('\n');
    line = lines.pop() ?? '';
    for (const one of lines.filter((each) => each.startsWith('{'))) {
      const message = JSON.parse(one);
      answers.set(message.id, message);
    }
  });
  const send = (message: object) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const ask = async (id: number, method: string, params: object): Promise<any> => {
    send({ id, method, params });
    await eventually(async () => answers.has(id), 60_000);
    return answers.get(id);
  };

  await eventually(async () => said.includes('/authorize?'), 60_000);
  const page = new URL(/http\S+\/authorize\?\S+/.exec(said)?.[0] ?? '');
  const callback = await stage.allow(page, person);
  expect((await fetch(callback)).status).toBe(200);
  const clientInfo = { name: 'editor', version: '1.0.0' };
  const initialized = await ask(1, 'initialize', {
    ...{ protocolVersion: '2025-06-18', capabilities: {}, clientInfo },
  });
  expect(initialized.result.serverInfo.title).toBe('Durable workflows');
  send({ method: 'notifications/initialized' });
  const { result } = await ask(2, 'tools/call', { name: 'get_usage', arguments: {} });
  expect(result.structuredContent.plan).toBe('free');
  const decided = await ask(3, 'tools/call', { name: 'approve_run', arguments: { run_id: 'x' } });
  expect(decided.result.content[0].text).toBe(
    "This action requires the 'approve_gates' permission",
  );

  const [authorization] = (
    await stage.send('GET', '/api/authorizations', undefined, person.session)
  ).body;
  expect(authorization.client_name).toContain('MCP');
  const url = `/api/authorizations/${authorization.id}`;
  expect((await stage.send('DELETE', url, undefined, person.session)).status).toBe(204);
  said = '';
  send({ id: 4, method: 'tools/call', params: { name: 'get_usage', arguments: {} } });
  // It has to ask again.
  await eventually(async () => said.includes('/authorize?') || answers.has(4), 60_000);
  expect(answers.get(4)?.result).toBeUndefined();
}, 180_000);
