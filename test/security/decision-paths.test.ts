import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { tools as mcpTools } from '#api/mcp/server.ts';
import { exitCodes } from '#cli/endings.ts';
import { customToolInput } from '#shared/contract/tools/custom-tool.ts';
import { newId } from '#shared/crypto/ids.ts';
import { sql } from '#shared/db/pool.ts';
import { createCustomTool } from '#shared/db/tools/custom-tools.ts';
import type { JsonObject } from '#shared/json.ts';
import { commandsBesideCallsOf } from '#test/cli/commands-that-call.ts';
import { createOps } from '#test/cli/ops.ts';
import { connectMcp } from '#test/fakes/mcp-client.ts';
import { startToolServer, type ToolServer } from '#test/fakes/tool-server.ts';
import { operationsOf } from '#test/support/api-operations.ts';
import { echo, edge, type Engine, eventually, startEngine } from '#test/support/engine.ts';
import { operationsReached } from '#test/client/operations-reached.ts';
import { soakCases, soakTest } from '#test/support/soak.ts';
import { call as callOf, childrenOf } from '#test/support/sub-workflows.ts';

// Someone who may run workflows, and not approve them, tries every way to start or continue a run behind a gate. The
// tool behind the gate is paid only under a decision that a person or a deadline made in the very same run.

const row = z.object({});
const settingsOf: Record<string, JsonObject> = {
  'no settings': {},
  'two approvals': { required: 2 },
  'named approvers': { approvers: { roles: ['admin'] } },
  'another starter': { not_the_starter: true },
  'a form': {
    input_schema: { type: 'object', properties: { ref: { type: 'integer' } }, required: ['ref'] },
  },
  'a deadline': { timeout_seconds: 3_600, on_timeout: 'approve' },
  'a prompt that shows nothing': { prompt: 'Release?' },
};

let engine: Engine;
let app: App;
let url: string;
let tools: ToolServer;
let runner: Caller;
let approvers: Caller[];
beforeAll(async () => {
  tools = await startToolServer();
  engine = await startEngine({ env: { ENCRYPTION_KEY: 'a key of this test, long enough' } });
  app = buildApp(engine.deps);
  await app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(app.server.address() as { port: number }).port}`;
  const endpoint = {
    ...{ name: 'pay', endpoint_url: `${tools.url}/pay`, retry_count: 0 },
    input_schema: { type: 'object' },
  };
  await createCustomTool(engine.db, engine.actor, customToolInput.parse(endpoint), () => ({}));
  runner = await caller('editor', { approve_gates: false, publish_workflows: false });
  approvers = [await caller('admin'), await caller('admin')];
}, 90_000);
afterAll(async () => {
  await app.close();
  await engine.close();
  await tools.close();
});

interface Caller {
  headers: Record<string, string>;
}

async function caller(role: string, overrides: JsonObject = {}): Promise<Caller> {
  const id = newId('member');
  const { workspaceId } = engine.actor;
  await engine.db.query(sql.type(row)`
    INSERT INTO members (id, workspace_id, name, email, role, status, overrides)
    VALUES (${id}, ${workspaceId}, ${`Member ${id.slice(-4)}`}, ${`${id}@example.com`}, ${role}, 'active',
            ${JSON.stringify(overrides)}::jsonb)`);
  const digest = sql.binary(createHash('sha256').update(`ops_${id}`).digest());
  await engine.db.query(sql.type(row)`
    INSERT INTO api_keys (id, workspace_id, name, prefix, secret_hash, role, member_id)
    VALUES (${newId('apiKey')}, ${workspaceId}, 'k', 'ops_', ${digest}, ${role}, ${id})`);
  return { headers: { 'x-api-key': `ops_${id}` } };
}

/** Tries again while the workspace has too many jobs, as the clients do. */
async function send(
  path: string,
  payload: object,
  { headers }: Caller = runner,
  method: 'POST' | 'PUT' = 'POST',
) {
  for (;;) {
    const answer = await app.inject({ method, url: path, headers, payload });
    const wait = Number(answer.headers['retry-after'] ?? 0);
    if (answer.statusCode !== 503 || wait === 0) {
      return { status: answer.statusCode, body: answer.json() };
    }
    await sleep(wait * 1_000);
  }
}
async function read(path: string) {
  const answer = await app.inject({ method: 'GET', url: path, headers: runner.headers });
  return answer.json();
}
const paid = (): number => tools.calls('pay').length;

/** Waits until nothing happens any more: every run has ended or waits, and no start is queued. */
const settled = (): Promise<void> =>
  eventually(
    async () =>
      !(await engine.db.exists(sql.type(row)`
        SELECT FROM runs r WHERE status IN ('pending', 'running')
          AND NOT EXISTS (SELECT FROM runs c WHERE c.parent_run_id = r.id AND c.status = 'paused')
        UNION ALL SELECT FROM outbox WHERE kind <> 'alert'
        UNION ALL SELECT FROM background_jobs WHERE status = 'running'`)),
    60_000,
  );

/** A payment behind a gate. Another graph that asks the same pays with other `params` in addition. */
const gated = (settings: JsonObject, params: JsonObject = {}) => ({
  nodes: [
    echo('terms', 'amount'),
    { id: 'ok', kind: 'human_gate', prompt: 'Release {amount}?', ...settings },
    {
      ...{ id: 'pay', kind: 'tool', tool_name: 'custom:pay' },
      params: { amount: '{amount}', terms: '{terms}', ...params },
    },
    tools.node('notify'),
  ] as never,
  edges: [edge('terms', 'ok'), edge('ok', 'pay'), edge('pay', 'notify')],
});

interface Source {
  workflowId: string;
  /** A run of it that was decided, and one that waits. */
  runId: string;
  waitingId: string;
  eventId: string;
  hook: string;
  scheduleId: string;
}

/**
 * A workflow with a gate, and everything that an entry point can name: runs of its first version, a second version and a draft
 * that pay otherwise behind the same gate, and a pinned output that is paid by. A decision cannot be pinned.
 */
async function source(settings: JsonObject, approved = true): Promise<Source> {
  const workflowId = await engine.define(gated(settings));
  const [admin] = approvers as [Caller];
  const hook = await send(`/api/workflows/${workflowId}/webhook`, {}, admin);
  const { pathname } = new URL(hook.body.url);
  const waitingId = (await send(pathname, { amount: 5 })).body.run_id as string;
  const started = await send(`/api/workflows/${workflowId}/runs`, { amount: 100 });
  const runId = started.body.id as string;
  await engine.until(runId, ['paused']);
  if (settings['timeout_seconds'] === undefined) {
    const input = { ref: 1 };
    for (const by of approvers.slice(0, (settings['required'] as number | undefined) ?? 1)) {
      const body = approved ? { approved, input } : { approved };
      const decided = await send(`/api/runs/${runId}/approve`, body, by);
      expect([decided.status, decided.body.detail]).toEqual([200, undefined]);
    }
  } else {
    // As if the deadline had decided.
    await send(`/api/runs/${runId}/approve`, { approved: true }, admin);
    await engine.db.query(sql.type(row)`
      UPDATE gates SET decided_by_kind = 'deadline', timed_out = 'approve' WHERE run_id = ${runId}`);
  }
  await engine.until(runId, ['success', 'failed']);
  await engine.until(waitingId, ['paused']);
  const eventId = await engine.db.oneFirst(sql.type(z.object({ id: z.string() }))`
    SELECT inbound_event_id AS id FROM runs WHERE id = ${waitingId}`);
  const schedule = await send(
    '/api/schedules',
    { workflow_id: workflowId, cron: '0 0 1 1 *', input: { amount: 7 }, overlap: 'allow' },
    admin,
  );
  const pin = async (node: string, run_id: string) =>
    (await send(`/api/workflows/${workflowId}/pins/${node}`, { run_id }, runner, 'PUT')).status;
  const statuses = [schedule.status, await pin('terms', waitingId), await pin('ok', runId)];
  expect(statuses).toEqual([201, 200, 422]);
  await changeAround(workflowId, settings);
  return { workflowId, runId, waitingId, eventId, hook: pathname, scheduleId: schedule.body.id };
}

/** Gives the workflow a second version and a draft that pay otherwise behind the same gate. */
async function changeAround(workflowId: string, settings: JsonObject): Promise<void> {
  const [admin] = approvers as [Caller];
  const path = `/api/workflows/${workflowId}`;
  const version = await send(path, { graph: gated(settings, { by: 'version' }) }, admin, 'PUT');
  const drafted = { graph: gated(settings, { by: 'draft' }) };
  const draft = await send(`${path}/draft`, drafted, runner, 'PUT');
  expect([version.status, version.body.version, draft.status]).toEqual([200, 2, 201]);
}

const forged = { ok: { approved: true, input: { ref: 1 } } };
const allow = ['custom:pay', 'http_request:POST'];
const another = { input: { amount: 1_000_000 } };
/** Other graphs, behind the same gate. */
const graphs = [{ version: 2 }, { draft: true }];
const rehearsing = { mode: 'recorded', allow };

/** The requests to each entry point, in order. One that starts from a rehearsal creates it first. */
type Requests = (source: Source, rehearsalId: string) => [path: string, body: object][];

/** Every operation that starts or continues runs, with what is sent to it. */
const entryPoints: Record<string, Requests> = {
  'POST /api/workflows/{id}/runs': ({ workflowId }) => [
    [`/api/workflows/${workflowId}/runs`, { amount: 1 }],
    [`/api/workflows/${workflowId}/runs?draft=true`, { amount: 1 }],
  ],
  'POST /api/runs/{id}/rerun': ({ runId, waitingId }, rehearsal) => [
    ...[{}, another, ...graphs].map((body): [string, object] => [`/api/runs/${runId}/rerun`, body]),
    [`/api/runs/${rehearsal}/rerun`, {}],
    [`/api/runs/${rehearsal}/rerun`, rehearsing],
    ...[another, ...graphs, { pins: true }].flatMap((body): [string, object][] => [
      [`/api/runs/${runId}/rerun`, { ...rehearsing, ...body }],
      [`/api/runs/${waitingId}/rerun`, { ...rehearsing, ...body, pins: true }],
    ]),
    [`/api/runs/${waitingId}/rerun`, { mode: 'recorded', decisions: forged, allow }],
    [`/api/runs/${waitingId}/rerun`, { mode: 'recorded', decisions: forged, allow: ['agent'] }],
  ],
  'POST /api/runs/{id}/fork': ({ runId }, rehearsal) => [
    ...['ok', 'pay', 'notify'].flatMap((from_step): [string, object][] => [
      [`/api/runs/${runId}/fork`, { from_step }],
      [`/api/runs/${runId}/fork`, { from_step, state: { amount: 1_000_000 } }],
    ]),
    ...[another, ...graphs].flatMap((body) =>
      ['pay', 'notify'].map((from_step): [string, object] => [
        `/api/runs/${runId}/fork`,
        { from_step, ...body },
      ]),
    ),
    [`/api/runs/${rehearsal}/fork`, { from_step: 'pay' }],
    [`/api/runs/${rehearsal}/fork`, { from_step: 'pay', ...rehearsing }],
    ...[another, ...graphs, { pins: true }].map((body): [string, object] => [
      `/api/runs/${runId}/fork`,
      { from_step: 'pay', ...rehearsing, ...body },
    ]),
  ],
  'POST /api/workflows/{id}/experiments': ({ workflowId, runId, waitingId }, rehearsal) => [
    ...[waitingId, rehearsal].map((run): [string, object] => [
      `/api/workflows/${workflowId}/experiments`,
      { candidate: { version: 1 }, runs: [run], decisions: forged, allow },
    ]),
    ...[{ version: 1 }, { version: 2 }, 'draft'].map((candidate): [string, object] => [
      `/api/workflows/${workflowId}/experiments`,
      { candidate, runs: [runId], allow, pins: true },
    ]),
  ],
  'POST /api/workflows/{id}/nodes/{node_id}/test': ({ workflowId, runId }) => [
    [`/api/workflows/${workflowId}/nodes/pay/test`, { state: { amount: 1_000_000 }, allow }],
    ...[{}, ...graphs].map((body): [string, object] => [
      `/api/workflows/${workflowId}/nodes/pay/test`,
      { run_id: runId, allow, pins: true, ...body },
    ]),
  ],
  'POST /api/inbound-events/{id}/replay': ({ eventId }) => [
    [`/api/inbound-events/${eventId}/replay`, {}],
  ],
  'POST /api/workflows/{id}/inbound-events/replay': ({ workflowId }) => [
    [
      `/api/workflows/${workflowId}/inbound-events/replay`,
      { since: '2026-01-01T00:00:00Z', outcome: 'all' },
    ],
  ],
  'POST /api/hooks/{workflow_id}/{secret}': ({ hook }) => [[hook, { amount: 2 }]],
  'POST /api/schedules/{id}/trigger': ({ scheduleId }) => [
    [`/api/schedules/${scheduleId}/trigger`, {}],
  ],
  'POST /api/runs/{id}/resume': ({ runId, waitingId }, rehearsal) =>
    [runId, waitingId, rehearsal].map((id) => [`/api/runs/${id}/resume`, {}]),
  'POST /api/runs/{id}/approve': ({ waitingId }, rehearsal) =>
    [waitingId, rehearsal].map((id) => [`/api/runs/${id}/approve`, { input: { ref: 1 } }]),
  // The tokens are in the emails of others.
  'POST /api/decide': ({ waitingId }) =>
    [waitingId, 'x'].map((token) => ['/api/decide', { token, decision: 'approve' }]),
  'POST /api/runs/{id}/budget-override': ({ waitingId }) => [
    [`/api/runs/${waitingId}/budget-override`, {}],
  ],
};

/** Operations that answer with a run or start a job, and execute nothing. */
const notAnEntryPoint: Record<string, string> = {
  'POST /api/runs/{id}/assign': 'says who is expected to decide',
  'POST /api/runs/{id}/cancel': 'ends a run',
  'POST /api/workspace/policies/backtest': 'judges what had happened',
  'POST /api/workspace/policies/backtest/{id}/cancel': 'ends that',
};

/** A rehearsal of the waiting run in which the request approves. */
async function rehearsed({ waitingId }: Source): Promise<string> {
  const body = { mode: 'recorded', decisions: forged };
  const { status, body: run } = await send(`/api/runs/${waitingId}/rerun`, body);
  expect([status, run.detail]).toEqual([201, undefined]);
  await engine.until(run.id, ['failed']);
  return run.id;
}

test('covers every operation that starts or continues a run', () => {
  const schemas = [
    'Run',
    'CheckedRun',
    'Fork',
    'NodeTest',
    'HookAnswer',
    'StartedJob',
    'LinkDecision',
  ];
  const document = app.swagger() as { paths: Record<string, Record<string, any>> };
  const starting = operationsOf(app).filter(({ method, path }) => {
    const responses = document.paths[path]?.[method.toLowerCase()]?.responses ?? {};
    return (
      method === 'POST' &&
      Object.entries<any>(responses).some(([status, { content }]) => {
        const schema = content?.['application/json']?.schema ?? {};
        return (
          status.startsWith('2') &&
          [schema, ...(schema.anyOf ?? [])].some(({ $ref: ref = '' }: { $ref?: string }) =>
            schemas.includes(ref.split('/').at(-1) ?? ''),
          )
        );
      })
    );
  });
  expect(starting.map(({ name }) => name).sort()).toEqual(
    [...Object.keys(entryPoints), ...Object.keys(notAnEntryPoint)].sort(),
  );
});

/** Those where the settings of a gate matter: they start from decisions. The others start from nothing. */
const fromDecisions = Object.entries(entryPoints).filter(([name]) =>
  name.startsWith('POST /api/runs/'),
);

describe.each(soakCases(Object.entries(settingsOf), 1))(
  'behind a gate with %s',
  (name, settings) => {
    test('no route pays without a decision in the same run', async () => {
      const from = await source(settings);
      await settled();
      const before = paid();
      expect(before).toBeGreaterThan(0);
      const rehearsal = await rehearsed(from);
      const answers: Record<string, number[]> = {};
      const tried = name === 'no settings' ? Object.entries(entryPoints) : fromDecisions;
      for (const [entryPoint, requests] of tried) {
        for (const [path, body] of requests(from, rehearsal)) {
          (answers[entryPoint] ??= []).push((await send(path, body)).status);
        }
      }
      await settled();
      expect(paid()).toBe(before);
      // Every entry point is open: only the gate stops the payment.
      expect(answers['POST /api/runs/{id}/fork']).toEqual(Array(18).fill(201));
      expect(answers['POST /api/runs/{id}/rerun']!.slice(0, 14)).toEqual(Array(14).fill(201));
      expect(answers['POST /api/runs/{id}/approve']).toEqual([403, 403]);
      if (name === 'no settings') {
        const experiments = answers['POST /api/workflows/{id}/experiments'];
        expect(experiments).toEqual([400, 400, 202, 202, 202]);
      }
    }, 300_000);
  },
);

test('no route turns a rejection into an approval', async () => {
  const from = await source({}, false);
  await settled();
  const before = paid();
  const rehearsal = await rehearsed(from);
  for (const [, requests] of fromDecisions) {
    for (const [path, body] of requests(from, rehearsal)) await send(path, body);
  }
  await settled();
  expect(paid()).toBe(before);
}, 300_000);

/** Starts a run from another one, which then waits at the gate, and returns its id. */
async function asked(path: string, body: object): Promise<string> {
  const started = await send(path, body);
  expect([path, body, started.status, started.body.detail]).toEqual([path, body, 201, undefined]);
  const { pending_gate: gate } = await engine.until(started.body.id, [
    'paused',
    'success',
    'failed',
  ]);
  expect([path, body, gate?.node_id]).toEqual([path, body, 'ok']);
  return started.body.id;
}

/** What the run pays once it is approved. */
async function approved(runId: string): Promise<object[]> {
  const before = paid();
  expect((await send(`/api/runs/${runId}/approve`, {}, approvers[0])).status).toBe(200);
  expect((await engine.until(runId, ['success', 'failed'])).error).toBeNull();
  return tools
    .calls('pay')
    .slice(before)
    .map(({ body }) => JSON.parse(body));
}

test('an approval is not valid for another input, version or draft, regardless of what its prompt shows', async () => {
  const { runId } = await source({ prompt: 'Release?' });
  await settled();
  const before = paid();
  const other = { amount: 1_000_000 };
  const begun: [body: object, pays: object][] = [
    [{ input: other }, { ...other, terms: 1_000_000 }],
    [{ state: other }, { ...other, terms: 100 }],
    [{ version: 2 }, { amount: 100, terms: 100, by: 'version' }],
    [{ draft: true }, { amount: 100, terms: 100, by: 'draft' }],
    [
      { draft: true, input: other },
      { ...other, terms: 1_000_000, by: 'draft' },
    ],
  ];
  const waiting: [string, object[]][] = [];
  for (const [body, pays] of begun) {
    for (const from_step of ['pay', 'notify']) {
      waiting.push([await asked(`/api/runs/${runId}/fork`, { from_step, ...body }), [pays]]);
    }
  }
  expect(paid()).toBe(before);
  for (const [id, pays] of waiting) expect(await approved(id)).toEqual(pays);
}, 300_000);

soakTest(
  'a rehearsal of an experiment or of a child decides nothing for what starts from it',
  300_000,
  async () => {
    const { workflowId, runId } = await source({});
    const parent = await engine.define({
      nodes: [callOf('child', workflowId, { input: { amount: '{amount}' } })],
      edges: [],
    });
    const above = (await send(`/api/workflows/${parent}/runs`, { amount: 4 })).body.id as string;
    await eventually(async () => (await childrenOf(engine, above))[0]?.status === 'paused');
    const before = paid();

    const tried = async (candidate: unknown): Promise<string> => {
      const path = `/api/workflows/${workflowId}/experiments`;
      const body = { candidate, runs: [runId], decisions: forged, allow: ['agent'], pins: true };
      const { id } = (await send(path, body)).body;
      await eventually(
        async () => (await read(`/api/experiments/${id}`)).status === 'done',
        60_000,
      );
      return (await read(`/api/experiments/${id}`)).runs[0].rehearsal_run_id;
    };
    const sources = await Promise.all([{ version: 1 }, { version: 2 }, 'draft'].map(tried));
    const rehearse = { mode: 'recorded', decisions: forged, allow: ['workflow'] };
    const rehearsal = (await send(`/api/runs/${above}/rerun`, rehearse)).body.id as string;
    await engine.until(rehearsal, ['failed']);
    sources.push(...(await childrenOf(engine, rehearsal)).map(({ id }) => id));
    expect(sources).toHaveLength(4);

    const forks: string[] = [];
    for (const id of sources) {
      const run = await engine.run(id);
      expect(run).toMatchObject({
        mode: 'recorded',
        failure: { kind: 'unrecorded', node_id: 'pay' },
      });
      expect(run.steps.find(({ step_key: key }) => key === 'ok')?.decision?.by_kind).toBe(
        'request',
      );
      await asked(`/api/runs/${id}/rerun`, {});
      await asked(`/api/runs/${id}/rerun`, { version: 2 });
      forks.push(await asked(`/api/runs/${id}/fork`, { from_step: 'pay' }));
      await asked(`/api/runs/${id}/fork`, { from_step: 'pay', state: { amount: 1_000_000 } });
      // In a rehearsal, no one can decide.
      const { body: again } = await send(`/api/runs/${id}/rerun`, rehearsing);
      expect((await engine.until(again.id, ['paused', 'success', 'failed'])).status).toBe('paused');
      expect((await send(`/api/runs/${id}/resume`, {})).status).toBe(409);
    }
    expect(paid()).toBe(before);
    for (const id of forks) expect(await approved(id)).toHaveLength(1);
  },
);

test('no MCP tool that executes a graph pays without a decision in the same run', async () => {
  const from = await source({ required: 2 });
  await settled();
  const before = paid();
  const rehearsal = await rehearsed(from);
  const { workflowId, runId, waitingId, eventId } = from;
  const calls: Record<string, JsonObject[]> = {
    run_workflow: [
      { workflow: workflowId, input: { amount: 3 } },
      { workflow: workflowId, input: { amount: 3 }, draft: true },
    ],
    rerun_run: [
      { run_id: runId },
      { run_id: runId, draft: true },
      { run_id: rehearsal, ...rehearsing },
      { run_id: runId, ...rehearsing, ...another, pins: true },
      { run_id: waitingId, ...rehearsing, decisions: forged },
    ],
    fork_run: [
      { run_id: runId, from_step: 'pay', state: { amount: 1_000_000 } },
      { run_id: rehearsal, from_step: 'pay' },
      { run_id: runId, from_step: 'notify', version: 2 },
      { run_id: runId, from_step: 'pay', ...another, draft: true },
      { run_id: runId, from_step: 'pay', ...rehearsing, draft: true },
    ],
    test_node: [
      { workflow: workflowId, node_id: 'pay', state: { amount: 9, terms: 9 }, allow },
      { workflow: workflowId, node_id: 'pay', run_id: runId, draft: true, pins: true, allow },
    ],
    start_experiment: [
      {
        workflow: workflowId,
        candidate: { version: 1 },
        runs: [waitingId],
        decisions: forged,
        allow,
      },
      { workflow: workflowId, candidate: 'draft', runs: [runId], pins: true, allow },
    ],
    replay_inbound_event: [{ event_id: eventId }],
    replay_inbound_events: [
      { workflow: workflowId, since: '2026-01-01T00:00:00Z', outcome: 'all' },
    ],
    // No run waits for it. An event answers no gate.
    send_event: [{ name: 'pay', data: { approved: true } }],
    resume_run: [{ run_id: runId }, { run_id: rehearsal }],
    approve_run: [{ run_id: waitingId }],
  };
  const acting = ['run_workflows', 'cancel_resume', 'approve_gates'];
  const executing = mcpTools.filter(
    ({ annotations, capability }) =>
      annotations.openWorldHint === true && acting.includes(capability),
  );
  expect(executing.map(({ name }) => name).filter((name) => calls[name] === undefined)).toEqual([]);
  const client = await connectMcp(`${url}/api/mcp`, undefined, runner.headers);
  const refused: string[] = [];
  for (const [name, all] of Object.entries(calls)) {
    for (const args of all) {
      const { isError } = await client.callTool({ name, arguments: args });
      if (isError === true) refused.push(name);
    }
  }
  await client.close();
  await settled();
  expect(paid()).toBe(before);
  const closed = ['rerun_run', 'start_experiment', 'resume_run', 'resume_run', 'approve_run'];
  expect(refused).toEqual(closed);
}, 300_000);

const allowing = allow.flatMap((name) => ['--allow', name]);
const recorded = ['--recorded', ...allowing];
const decided = `ok=${JSON.stringify(forged.ok)}`;

/** Every command that starts or continues runs, with its arguments. */
const commands: Record<string, (source: Source, rehearsalId: string) => string[][]> = {
  run: ({ workflowId }) => [
    [workflowId, '--input', 'amount=1'],
    [workflowId, '--input', 'amount=1', '--draft'],
    [workflowId, '--input', 'amount=1', '--dry-run', '--version', '1'],
  ],
  rerun: ({ runId, waitingId }) => [
    [runId, '--version', '2', '--input', 'amount=1000000'],
    [runId, '--draft'],
    [runId, '--draft', ...recorded, '--pins', '--execute-failures'],
    [waitingId, ...recorded, '--decisions', decided],
  ],
  fork: ({ runId }, rehearsal) => [
    [runId, '--from', 'pay', '--state', 'amount=1000000'],
    [runId, '--from', 'notify', '--version', '2'],
    [runId, '--from', 'pay', '--draft', '--input', 'amount=1000000'],
    [runId, '--from', 'pay', '--state', 'amount=1000000', ...recorded, '--pins'],
    [runId, '--from', 'pay', '--draft', ...recorded, '--execute-failures'],
    [rehearsal, '--from', 'pay'],
    [rehearsal, '--from', 'pay', ...recorded, '--decisions', decided],
  ],
  experiment: ({ workflowId, runId }) => [
    [workflowId, '--draft', '--run', runId, ...allowing, '--failures', 'execute', '--pins'],
    [workflowId, '--version', '2', '--status', 'success', '--since', '1d', ...allowing],
  ],
  'node test': ({ workflowId, runId }) => [
    [workflowId, 'pay', '--run', runId, '--step', 'pay', '--version', '1', '--pins', ...allowing],
    [workflowId, 'pay', '--state', 'amount=1000000', '--state', 'terms=1', '--draft', ...allowing],
  ],
  'schedules trigger': ({ scheduleId }) => [[scheduleId]],
  'events replay': ({ workflowId, eventId }) => [
    [eventId, '--allow-unverified', '--deduplicate'],
    ['--workflow', workflowId, '--since', '1d', '--all', '--limit', '3'],
  ],
  resume: ({ runId }, rehearsal) => [[runId], [rehearsal]],
  approve: ({ waitingId }) => [[waitingId, '--input', 'ref=1', '--node', 'ok', '--yes']],
  reject: ({ waitingId }) => [[waitingId, '--input', 'ref=1', '--node', 'ok', '--yes']],
};

/** Commands in the same modules, which read, keep or end something. */
const notStarting = [
  ...['gate', 'assign', 'cancel', 'runs list', 'runs export', 'runs show', 'runs watch'],
  'runs stream-token',
  ...['runs views list', 'runs views save', 'runs views remove'],
  ...['experiments list', 'experiments show', 'experiments cancel'],
  ...['pins list', 'pins set', 'pins remove'],
  ...['schedules list', 'schedules show', 'schedules create', 'schedules delete'],
  ...['events list', 'events show', 'events cancel'],
];

/** Options that choose neither what is executed nor with what. */
const otherOptions = [
  ...['--wait', '--watch', '--wait-timeout', '--no-wait', '--idempotency-key', '--csv'],
  ...['--last', '--until', '--budget', '--reason', '--digest', '--arguments', '--accept-changes'],
];

test('covers every command that starts or continues a run, with its options', async () => {
  const { all } = await operationsReached();
  const methodsOf = (entryPoint: string) => [
    ...(all.get(entryPoint.replaceAll(/\{\w+\}/g, '{}')) ?? []),
  ];
  expect(
    Object.keys(entryPoints).filter((entryPoint) => methodsOf(entryPoint).length === 0),
  ).toEqual([]);
  const found = await commandsBesideCallsOf(new Set(Object.keys(entryPoints).flatMap(methodsOf)));
  expect([...found.keys()].sort()).toEqual([...Object.keys(commands), ...notStarting].sort());
  const any: Source = {
    ...{ workflowId: '', runId: '', waitingId: '', eventId: '', hook: '', scheduleId: '' },
  };
  const untried = Object.entries(commands).flatMap(([name, requests]) => {
    const used = [...requests(any, '').flat(), ...otherOptions];
    const options = found.get(name)?.options.map(({ long }) => long ?? '') ?? [];
    return options.filter((option) => !used.includes(option)).map((option) => `${name} ${option}`);
  });
  expect(untried).toEqual([]);
});

soakTest('no command pays without a decision in the same run', 300_000, async () => {
  const from = await source({});
  await settled();
  const before = paid();
  const rehearsal = await rehearsed(from);
  const ops = await createOps({
    OPS_API_URL: url,
    OPS_API_KEY: runner.headers['x-api-key'] ?? '',
  });
  for (const [name, requests] of Object.entries(commands)) {
    const answers = requests(from, rehearsal).map(async (args) => {
      const { code, stderr } = await ops([...name.split(' '), ...args, '-o', 'json']);
      // It was done, or the service refused it.
      const isOpen = code === exitCodes.ok || code === exitCodes.runFailed;
      const answered = isOpen || / \(40[039]\)\n$/.test(stderr);
      expect([name, args, answered ? '' : stderr]).toEqual([name, args, '']);
    });
    await Promise.all(answers);
  }
  await settled();
  expect(paid()).toBe(before);
});

test('a child requires its own decision, and a restart from the ledger continues under the decisions of its own run', async () => {
  const asking = await engine.define(gated({}), 'Asking');
  const parent = await engine.define({
    nodes: [callOf('child', asking, { input: { amount: '{amount}' } }), tools.node('after')],
    edges: [edge('child', 'after')],
  });
  const started = await send(`/api/workflows/${parent}/runs`, { amount: 4 });
  const before = paid();
  const childOf = async (id: string): Promise<string> => {
    await eventually(async () => (await childrenOf(engine, id))[0]?.status === 'paused');
    return (await childrenOf(engine, id))[0]!.id;
  };
  const child = await childOf(started.body.id);
  const rehearse = { mode: 'recorded', decisions: forged, allow: ['workflow'] };
  const rehearsal = (await send(`/api/runs/${started.body.id}/rerun`, rehearse)).body.id as string;
  await engine.until(rehearsal, ['failed', 'success', 'paused']);
  expect((await send(`/api/runs/${child}/approve`, {}, approvers[0])).status).toBe(200);
  await engine.until(started.body.id, ['success']);
  expect(paid()).toBe(before + 1);
  for (const [run, from_step] of [
    [started.body.id, 'child'],
    [started.body.id, 'after'],
    [child, 'pay'],
    [child, 'notify'],
    [rehearsal, 'child'],
  ]) {
    const { status, body } = await send(`/api/runs/${run}/fork`, { from_step });
    expect([run, from_step, status, body.detail]).toEqual([run, from_step, 201, undefined]);
  }
  await settled();
  expect([paid(), tools.calls('after').length]).toEqual([before + 1, 1]);

  // A fork whose gate was approved, and whose execution is then lost before it continues.
  const forked = (await send(`/api/runs/${child}/fork`, { from_step: 'notify' })).body.id as string;
  await engine.until(forked, ['paused']);
  await engine.db.query(sql.type(row)`UPDATE runs SET from_ledger = true WHERE id = ${forked}`);
  await engine.deps.temporal.client.workflow.getHandle(forked).terminate('lost');
  expect((await send(`/api/runs/${forked}/approve`, {}, approvers[0])).status).toBe(200);
  await engine.until(forked, ['success', 'failed']);
  const resumed = await engine.run(forked);
  if (resumed.status === 'failed') {
    expect((await send(`/api/runs/${forked}/resume`, {})).status).toBe(200);
    await engine.until(forked, ['success']);
  }
  // What had been paid is not paid again.
  expect(paid()).toBe(before + 1);
}, 300_000);

/** Resets the execution of a run in Temporal to its first task, as an operator can. */
async function resetByHand(runId: string): Promise<void> {
  const { client, namespace } = engine.deps.temporal;
  const handle = client.workflow.getHandle(runId);
  const firstTask = async () =>
    (await handle.fetchHistory()).events!.find(
      (event) => event.workflowTaskCompletedEventAttributes != null,
    );
  // The record says that the run is paused before its task has ended.
  await eventually(async () => (await firstTask()) !== undefined);
  const [task, { runId: execution }] = await Promise.all([firstTask(), handle.describe()]);
  await client.workflowService.resetWorkflowExecution({
    namespace,
    workflowExecution: { workflowId: runId, runId: execution },
    workflowTaskFinishEventId: task!.eventId!,
    requestId: newId('run'),
    reason: 'by hand',
    identity: 'operator',
  });
  await eventually(async () => (await handle.describe()).runId !== execution);
}

const executionOf = async (runId: string) =>
  (await engine.deps.temporal.client.workflow.getHandle(runId).describe()).status.name;

describe('a manual reset in Temporal to before a gate', () => {
  const begin = async (settings: JsonObject = {}): Promise<string> => {
    const workflowId = await engine.define(gated(settings));
    const { body } = await send(`/api/workflows/${workflowId}/runs`, { amount: 6 });
    await engine.until(body.id, ['paused']);
    return body.id;
  };
  const decide = (runId: string, by: number, approved = true) =>
    send(`/api/runs/${runId}/approve`, { approved }, approvers[by]);

  test('pays once under the decision that was made, and approves nothing that is waiting', async () => {
    const before = paid();
    const waiting = await begin({ required: 2 });
    expect((await decide(waiting, 0)).status).toBe(200);
    await resetByHand(waiting);
    // The same person again adds nothing.
    expect((await decide(waiting, 0)).status).toBe(200);
    expect((await engine.until(waiting, ['paused'])).pending_gate?.decisions).toHaveLength(1);
    expect(paid()).toBe(before);
    expect((await decide(waiting, 1)).status).toBe(200);
    await engine.until(waiting, ['success']);
    expect(paid()).toBe(before + 1);

    // Now it has ended, and stays as it is.
    await resetByHand(waiting);
    await eventually(async () => (await executionOf(waiting)) !== 'RUNNING');
    expect([await executionOf(waiting), (await engine.run(waiting)).status]).toEqual([
      'COMPLETED',
      'success',
    ]);
    expect(paid()).toBe(before + 1);
  }, 120_000);

  test('does not undo a rejection', async () => {
    const before = paid();
    const rejected = await begin();
    expect((await decide(rejected, 0, false)).status).toBe(200);
    await engine.until(rejected, ['failed']);
    const failed = () => eventually(async () => (await executionOf(rejected)) === 'FAILED');
    await failed();
    await resetByHand(rejected);
    await failed();
    expect((await engine.run(rejected)).failure).toEqual({ kind: 'rejected', node_id: 'ok' });
    expect((await decide(rejected, 1)).status).toBe(409);
    expect(paid()).toBe(before);
  }, 120_000);

  soakTest('while what follows is executed, does not pay again', 120_000, async () => {
    let answer: () => void = () => undefined;
    tools.answer('notify', { until: new Promise<void>((resolve) => (answer = resolve)) });
    const notified = tools.calls('notify').length;
    const before = paid();
    const runId = await begin();
    expect((await decide(runId, 0)).status).toBe(200);
    await eventually(() => tools.calls('notify').length === notified + 1);
    await resetByHand(runId);
    answer();
    const run = await engine.until(runId, ['success', 'failed']);
    expect(run.steps.map(({ step_key: key, status }) => [key, status])).toEqual([
      ['terms', 'success'],
      ['ok', 'success'],
      ['pay', 'success'],
      ['notify', 'success'],
    ]);
    expect(paid()).toBe(before + 1);
  });
});
