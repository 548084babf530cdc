import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Client, createClient, type Run, type StreamFrame } from '#client/index.ts';
import { chain, gated } from '#bench/graphs.ts';
import { type FakeServer, startHttpServer } from '#test/fakes/http-server.ts';
import { type Service, startService } from '#test/support/served-api.ts';
import { soakDescribe } from '#test/support/soak.ts';

const password = 'open sesame, please';
let service: Service;
let client: Client;
let token: string;
beforeAll(async () => {
  service = await startService({ AUTH_MODE: 'required', OWNER_PASSWORD: password });
  const visitor = createClient({ baseUrl: service.apiUrl });
  ({ token } = await visitor.login('owner@localhost', password));
  client = createClient({ baseUrl: service.apiUrl, token });
});
afterAll(() => service.close());

let names = 0;
const define = (graph: object, name = `Workflow ${(names += 1)}`) =>
  client.createWorkflow({ name, graph: graph as ReturnType<typeof chain> });
const slow = {
  nodes: [{ id: 'wait', kind: 'tool', tool_name: 'delay', params: { seconds: 600 } }],
  edges: [],
};
const quick = { wait: true, pollInterval: 0.02 } as const;

describe('a run', () => {
  test('is started by ID or exact name, and waited for', async () => {
    const { id, name } = await define(chain(2));
    for (const workflow of [id, name]) {
      const run = await client.run(workflow, { ticket: 'x' }, quick);
      expect(run).toMatchObject({ status: 'success', workflow_id: id, input: { ticket: 'x' } });
    }
  });

  test('is started by ID even if another workflow has that ID as its name', async () => {
    const { id } = await define(chain(1));
    const named = await define(chain(1), id);
    expect((await client.run(id)).workflow_id).toBe(id);
    await client.deleteWorkflow(named.id);
  });

  test.each(['a/b', '..', 'wf', 'x'.repeat(150), 'ünï çode?'])(
    'is started by the name %j',
    async (name) => {
      const { id } = await define(chain(1), name);
      expect((await client.run(name)).workflow_id).toBe(id);
    },
  );

  test('is refused for an unknown or ambiguous name', async () => {
    await expect(client.run('Nobody')).rejects.toMatchObject({
      status: 404,
      detail: 'Workflow not found',
    });
    await define(chain(1), 'Twice');
    await define(chain(1), 'Twice');
    await expect(client.run('Twice')).rejects.toMatchObject({ status: 409 });
    await expect(client.run('twice')).rejects.toMatchObject({ status: 404 });
  });

  test('continues after its wait times out, and can be canceled', async () => {
    const { id } = await define(slow);
    const waiting = client.run(id, {}, { ...quick, timeout: 0.5, idempotencyKey: 'slow' });
    await expect(waiting).rejects.toMatchObject({ status: 408 });
    const again = await client.run(id, {}, { idempotencyKey: 'slow' });
    expect(['pending', 'running']).toContain(again.status);
    expect((await client.cancel(again.id)).status).toBe('failed');
  });

  test('waits at a gate, and is approved with input or rejected', async () => {
    const { id } = await define(gated());
    const paused = await client.run(id, {}, quick);
    expect(paused).toMatchObject({ status: 'paused', pending_gate: { node_id: 'gate' } });
    expect(await approvalsOf(paused)).toEqual(['gate']);
    await client.approve(paused.id, true, { note: 'fine' });
    const done = await client.waitForRun(paused.id, { pollInterval: 0.02 });
    expect(done).toMatchObject({ status: 'success', state: { note: 'fine' } });
    const other = await client.run(id, {}, quick);
    await client.approve(other.id, false, undefined, { nodeId: 'gate', reason: 'not now' });
    expect(await client.waitForRun(other.id)).toMatchObject({
      status: 'failed',
      error: expect.stringMatching(/: not now$/),
    });
  });

  const approvalsOf = async (run: Run): Promise<string[]> => {
    const nodes = [];
    for await (const gate of client.approvals()) {
      if (gate.run_id === run.id) nodes.push(gate.node_id);
    }
    return nodes;
  };
});

soakDescribe('starting runs over an unreliable connection', () => {
  /** Forwards requests, and drops every other response after the service has sent it. */
  async function startLossyLine(): Promise<FakeServer & { lost: () => number }> {
    let passed = 0;
    let lost = 0;
    const line = await startHttpServer(async ({ method, url, headers, body }, response) => {
      const { host: _host, 'content-length': _length, connection: _c, ...kept } = headers;
      const answer = await fetch(service.apiUrl + url, {
        method,
        headers: kept as Record<string, string>,
        ...(body === '' ? {} : { body }),
      });
      const text = await answer.text();
      passed += 1;
      if (passed % 2 === 1) {
        lost += 1;
        return void response.destroy();
      }
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(text);
    });
    return { ...line, lost: () => lost };
  }

  test('starts one run per call, despite lost responses', async () => {
    const { id } = await define(chain(1));
    const line = await startLossyLine();
    const behind = createClient({ baseUrl: line.url, token });
    const runs = [];
    for (let round = 0; round < 20; round += 1) runs.push(await behind.run(id, { round }));
    await line.close();
    expect(line.lost()).toBe(20);
    expect(new Set(runs.map((run) => run.id)).size).toBe(20);
    const kept = await client.listWorkflowRuns(id, { limit: 200 });
    expect(kept.runs).toHaveLength(20);
  });
});

describe('lists', () => {
  test('return each row once across pages', async () => {
    const { id } = await define(chain(1));
    const started = await Promise.all(Array.from({ length: 7 }, () => client.run(id)));
    const seen = [];
    for await (const run of client.runs({ workflow_id: id, limit: 3 })) seen.push(run.id);
    expect(seen).toHaveLength(7);
    expect(new Set(seen)).toEqual(new Set(started.map((run) => run.id)));
    const ofWorkflow = [];
    for await (const run of client.workflowRuns(id, { limit: 2 })) ofWorkflow.push(run.id);
    expect(ofWorkflow).toEqual(seen);
  });

  test('of versions and audit entries end', async () => {
    const { id } = await define(chain(1));
    for (const length of [2, 3, 4]) await client.updateWorkflow(id, { graph: chain(length) });
    const versions = [];
    for await (const { version } of client.versions(id)) versions.push(version);
    expect(versions).toEqual([4, 3, 2, 1]);
    const entries = [];
    for await (const entry of client.auditEntries()) entries.push(entry.id);
    expect(entries).toHaveLength((await client.listAudit({ limit: 1 })).total);
    expect(new Set(entries).size).toBe(entries.length);
    const updates = [];
    for await (const entry of client.auditEntries({ action: 'update', target_id: id })) {
      updates.push(entry.target_id);
    }
    expect(updates).toEqual([id, id, id]);
  });
});

test('iterates the events of a run page by page, from any position', async () => {
  const { id } = await define(chain(3));
  const run = await client.run(id, {}, quick);
  const seen = [];
  for await (const event of client.runEvents(run.id, { limit: 2 })) seen.push(event);
  expect(seen.map(({ frame }) => frame.type)).toEqual([
    ...Array.from({ length: 3 }, () => ['step_started', 'step_completed']).flat(),
    'run_completed',
  ]);
  expect((await client.listRunEvents(run.id)).events).toEqual(seen);
  const rest = [];
  for await (const event of client.runEvents(run.id, { after: seen[2]!.seq })) rest.push(event);
  expect(rest).toEqual(seen.slice(3));
  await expect(client.listRunEvents('run_1')).rejects.toMatchObject({ status: 404 });
});

describe('a stream', () => {
  test('receives events from the moment it opens', async () => {
    const { id } = await define(gated());
    const run = await client.run(id, {}, quick);
    const frames: StreamFrame[] = [];
    const onOpen = () => void client.approve(run.id);
    for await (const frame of client.stream(run.id, { onOpen })) {
      frames.push(frame);
      if (frame.type === 'run_completed') break;
    }
    const types = frames.map((frame) => frame.type);
    expect(types.at(-1)).toBe('run_completed');
    expect(types.filter((type) => type === 'step_started')).toHaveLength(1);
    expect(frames.every((frame) => frame.run_id === run.id)).toBe(true);
  });

  test('ends quietly when aborted, also before it opens', async () => {
    const { id } = await define(slow);
    const run = await client.run(id);
    for (const delay of [0, 1, 300]) {
      const frames = [];
      const signal = AbortSignal.timeout(delay);
      for await (const frame of client.stream(run.id, { signal })) frames.push(frame);
      expect(signal.aborted).toBe(true);
    }
    await client.cancel(run.id);
  });

  test('reports why it was closed', async () => {
    const first = (stream: AsyncGenerator<StreamFrame, void>) => stream.next();
    const stranger = createClient({ baseUrl: service.apiUrl });
    await expect(first(stranger.stream('run_1'))).rejects.toMatchObject({ code: 4401 });
    await expect(first(client.stream('run_1'))).rejects.toMatchObject({ code: 4404 });
    const nowhere = createClient({ baseUrl: 'http://127.0.0.1:1' });
    await expect(first(nowhere.stream('run_1'))).rejects.toMatchObject({
      name: 'StreamError',
      code: 1006,
    });
  });
});

test('other operations return 401 without a credential', async () => {
  const stranger = createClient({ baseUrl: service.apiUrl });
  await expect(stranger.listRuns()).rejects.toMatchObject({ name: 'ApiError', status: 401 });
  expect(await stranger.getHealth()).toMatchObject({ status: expect.any(String) });
});
