import { createHash } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { buildApp } from '../../../api/app.ts';
import type { App } from '../../../api/deps.ts';
import type { Role } from '../../../shared/capabilities.ts';
import { newId } from '../../../shared/crypto/ids.ts';
import { sql } from '../../../shared/db/pool.ts';
import type { JsonObject } from '../../../shared/json.ts';
import { connectMcp } from '../../fakes/mcp-client.ts';
import { echo, edge, type Engine, startEngine } from '../../support/engine.ts';

const row = z.object({});

let engine: Engine;
let app: App;
let url: string;
beforeAll(async () => {
  engine = await startEngine();
  app = buildApp(engine.deps);
  await app.listen({ host: '127.0.0.1', port: 0 });
  url = `http://127.0.0.1:${(app.server.address() as { port: number }).port}/api/mcp`;
}, 60_000);
afterAll(async () => {
  await app.close();
  await engine.close();
});

type Headers = Record<string, string>;

/** A member with a key of their own, or with `member: false` only the key. */
async function caller({ role = 'editor', member = true }: { role?: Role; member?: boolean } = {}) {
  const id = newId('member');
  const { workspaceId } = engine.actor;
  if (member) {
    await engine.db.query(sql.type(row)`
      INSERT INTO members (id, workspace_id, name, email, role, status)
      VALUES (${id}, ${workspaceId}, ${`Member ${id.slice(-4)}`}, ${`${id}@example.com`}, ${role}, 'active')`);
  }
  const digest = sql.binary(createHash('sha256').update(`ops_${id}`).digest());
  await engine.db.query(sql.type(row)`
    INSERT INTO api_keys (id, workspace_id, name, prefix, secret_hash, role, member_id)
    VALUES (${newId('apiKey')}, ${workspaceId}, 'k', 'ops_', ${digest}, ${role}, ${member ? id : null})`);
  return { id, headers: { 'x-api-key': `ops_${id}` } as Headers };
}

async function call(method: string, path: string, payload?: object, headers: Headers = {}) {
  const answer = await app.inject({
    method: method as 'GET',
    url: path,
    headers,
    ...(payload === undefined ? {} : { payload }),
  });
  return { status: answer.statusCode, body: answer.json() };
}

const approve = (runId: string, headers: Headers, body: object = {}) =>
  call('POST', `/api/runs/${runId}/approve`, body, headers);

const gated = (settings: JsonObject) => ({
  nodes: [
    { id: 'review', kind: 'human_gate', prompt: 'Pay {amount}?', ...settings } as never,
    echo('paid'),
    echo('refused'),
  ],
  edges: [edge('review', 'paid', 'true'), edge('review', 'refused', 'false')],
});

/** A run that waits at a gate with these settings, started with these headers. */
async function waiting(settings: JsonObject, headers: Headers = {}): Promise<string> {
  const workflowId = await engine.define(gated(settings));
  const { status, body } = await call(
    'POST',
    `/api/workflows/${workflowId}/runs`,
    { amount: 5 },
    headers,
  );
  expect([status, body.detail]).toEqual([201, undefined]);
  await engine.until(body.id, ['paused']);
  return body.id;
}

const audit = async (runId: string): Promise<{ action: string }[]> => {
  const { body } = await call('GET', `/api/audit?target_id=${runId}`);
  return body.logs.toReversed().map(({ action, actor_id, details }: JsonObject) => ({
    ...{ action, actor_id, details },
  }));
};

describe('a gate that requires several approvals', () => {
  test('counts each member once, and the run continues with the last one', async () => {
    const [ann, ben, cem] = [await caller(), await caller(), await caller()];
    const runId = await waiting({ required: 3 });
    const first = await approve(runId, ann.headers, { input: { ann: 1, both: 1 }, reason: 'fine' });
    expect(first.status).toBe(200);
    expect(first.body).toMatchObject({
      status: 'paused',
      pending_gate: {
        required: 3,
        decisions: [
          { member_id: ann.id, approved: true, reason: 'fine', input: { ann: 1, both: 1 } },
        ],
      },
    });
    expect((await approve(runId, ann.headers)).body.pending_gate.decisions).toHaveLength(1);
    await approve(runId, ben.headers, { input: { both: 2 } });
    expect(await approve(runId, cem.headers)).toMatchObject({ status: 200 });
    const run = await engine.until(runId, ['success']);
    expect(run.state).toMatchObject({ ann: 1, both: 2, review: { approved: true } });
    expect(run.steps[0]).toMatchObject({
      output: { approved: true, input: { ann: 1, both: 2 } },
      decision: { approved: true },
      decisions: [ann, ben, cem].map(({ id }) => ({ member_id: id, approved: true })),
    });
    expect((await audit(runId)).filter(({ action }) => action === 'approve')).toEqual(
      [ann, ben, cem].map(({ id }, at) => ({
        action: 'approve',
        actor_id: id,
        details: {
          ...{ node_id: 'review', step_key: 'review', approvals: at + 1, required: 3 },
          ...(at === 0 ? { reason: 'fine' } : {}),
        },
      })),
    );
    // The decision stands: repeating it is no error, another one is.
    expect((await approve(runId, cem.headers)).status).toBe(200);
    const late = await approve(runId, (await caller()).headers);
    expect(late).toMatchObject({
      status: 409,
      body: { detail: /has already been approved by Member/ },
    });
  });

  test('is rejected by one rejection, also by a member who has approved', async () => {
    const ann = await caller();
    const runId = await waiting({ required: 3 });
    await approve(runId, ann.headers);
    const { status } = await approve(runId, ann.headers, {
      approved: false,
      reason: 'I was wrong',
    });
    expect(status).toBe(200);
    const run = await engine.until(runId, ['success']);
    expect(run.output).toEqual({ refused: 'refused' });
    expect(run.steps[0]).toMatchObject({
      decision: { approved: false, reason: 'I was wrong' },
      decisions: [{ approved: true }, { approved: false }],
    });
  });

  test('counts exactly three of 20 at once, and the run continues once', async () => {
    const callers = await Promise.all(Array.from({ length: 20 }, () => caller()));
    for (let round = 0; round < 15; round += 1) {
      const runId = await waiting({ required: 3 });
      const answers = await Promise.all(callers.map(({ headers }) => approve(runId, headers)));
      const statuses = answers.map(({ status }) => status);
      expect(statuses.filter((status) => status === 200)).toHaveLength(3);
      expect(statuses.filter((status) => status === 409)).toHaveLength(17);
      const run = await engine.until(runId, ['success']);
      expect(run.steps.map(({ step_key, attempt }) => [step_key, attempt])).toEqual([
        ['review', 1],
        ['paid', 1],
        ['refused', 1],
      ]);
      expect(new Set(run.steps[0]?.decisions?.map((vote) => vote.member_id)).size).toBe(3);
      const frames = await engine.frames(runId);
      expect(frames.filter(({ type }) => type === 'run_completed')).toHaveLength(1);
    }
  }, 90_000);
});

describe('a gate that only some can decide', () => {
  test('refuses others with 403, in the audit log, and asks for their rights at the decision', async () => {
    const [ann, ben] = [await caller(), await caller()];
    const runId = await waiting({ approvers: { roles: ['admin'], members: [ann.id] } });
    const { body: run } = await call('GET', `/api/runs/${runId}`);
    expect(run.pending_gate.approvers).toEqual({
      roles: ['admin'],
      members: [{ id: ann.id, name: `Member ${ann.id.slice(-4)}` }],
    });
    const detail = "Gate 'review' can only be decided by the roles admin and 1 named member";
    for (const approved of [true, false]) {
      expect(await approve(runId, ben.headers, { approved })).toMatchObject({
        status: 403,
        body: { detail },
      });
    }
    expect((await audit(runId)).filter(({ action }) => action === 'decision_refused')).toEqual(
      [true, false].map((approved) => ({
        action: 'decision_refused',
        actor_id: ben.id,
        details: { node_id: 'review', step_key: 'review', approved, reason: detail },
      })),
    );
    await engine.db.query(sql.type(row)`UPDATE members SET role = 'admin' WHERE id = ${ben.id}`);
    expect((await approve(runId, ben.headers)).status).toBe(200);
    await engine.until(runId, ['success']);
  });

  test.each<[string, JsonObject]>([
    ['approvers', { approvers: { roles: ['admin', 'editor', 'viewer'] } }],
    ['required', { required: 2 }],
    ['not_the_starter', { not_the_starter: true }],
  ])('has no place for a key without a member: %s', async (_, settings) => {
    const key = await caller({ role: 'admin', member: false });
    const runId = await waiting(settings);
    expect(await approve(runId, key.headers)).toMatchObject({
      status: 403,
      body: { detail: /can only be decided by a member: use a session, or a key/ },
    });
  });

  test('excludes the member who started the run, on every way in', async () => {
    const [starter, other] = [await caller(), await caller()];
    const runId = await waiting({ not_the_starter: true }, starter.headers);
    const detail = "Gate 'review' cannot be decided by the member who started the run";
    expect(await approve(runId, starter.headers)).toMatchObject({ status: 403, body: { detail } });
    const client = await connectMcp(url, undefined, starter.headers);
    const refused: any = await client.callTool({
      name: 'approve_run',
      arguments: { run_id: runId },
    });
    expect([refused.isError, refused.content[0].text]).toEqual([
      true,
      expect.stringContaining(detail),
    ]);
    await client.close();
    expect((await approve(runId, other.headers)).status).toBe(200);
    await engine.until(runId, ['success']);
  });

  test('counts the creator of a schedule as the starter of its runs', async () => {
    const [creator, other] = [await caller(), await caller()];
    const workflowId = await engine.define(gated({ not_the_starter: true }));
    const schedule = { workflow_id: workflowId, cron: '0 0 1 1 *', input: { amount: 5 } };
    const made = await call('POST', '/api/schedules', schedule, creator.headers);
    const runId = await engine.trigger(workflowId, { amount: 5 });
    await engine.until(runId, ['paused']);
    await engine.db.query(sql.type(row)`
      UPDATE runs SET trigger = 'schedule', created_by = NULL, schedule_id = ${made.body.id} WHERE id = ${runId}`);
    expect((await approve(runId, creator.headers)).status).toBe(403);
    expect((await approve(runId, other.headers)).status).toBe(200);
  });
});

describe('a gate with an input schema', () => {
  const input_schema = {
    type: 'object',
    properties: {
      amount: { type: 'integer', maximum: 100 },
      payee: { type: 'object', required: ['iban'] },
    },
    required: ['amount'],
    additionalProperties: false,
  };

  test('refuses an input that does not fit, with its path, and an approval without one', async () => {
    const { headers } = await caller();
    const runId = await waiting({ input_schema });
    const { body: run } = await call('GET', `/api/runs/${runId}`);
    expect(run.pending_gate.input_schema).toEqual(input_schema);
    for (const [body, detail] of [
      [{}, "Invalid body: input must have required property 'amount'"],
      [{ input: { amount: 101 } }, 'Invalid body: input.amount must be <= 100'],
      [
        { input: { amount: 1, payee: {} } },
        "Invalid body: input.payee must have required property 'iban'",
      ],
      [{ input: { amount: 1, x: 1 } }, "Invalid body: input must not have 'x'"],
      [{ approved: false, input: { amount: 'a' } }, 'Invalid body: input.amount must be integer'],
    ] as const) {
      expect(await approve(runId, headers, body)).toMatchObject({ status: 400, body: { detail } });
    }
    expect((await approve(runId, headers, { input: { amount: 7 } })).status).toBe(200);
    expect((await engine.until(runId, ['success'])).state).toMatchObject({ amount: 7 });
  });

  test('needs no input for a rejection, and lets a key without a member decide', async () => {
    const key = await caller({ member: false });
    const runId = await waiting({ input_schema });
    expect((await approve(runId, key.headers, { approved: false })).status).toBe(200);
    const run = await engine.until(runId, ['success']);
    expect(run.steps[0]?.decisions).toMatchObject([{ member_id: null, approved: false }]);
  });

  test('keeps the settings of its version', async () => {
    const runId = await waiting({ input_schema });
    const { body: run } = await call('GET', `/api/runs/${runId}`);
    const graph = gated({ required: 2 });
    expect((await call('PUT', `/api/workflows/${run.workflow_id}`, { graph })).status).toBe(200);
    expect((await approve(runId, {}, {})).status).toBe(400);
    expect((await approve(runId, {}, { input: { amount: 1 } })).status).toBe(200);
  });
});

describe('the check of a workflow', () => {
  const issues = async (settings: JsonObject) => {
    const { body: workflow } = await call('POST', '/api/workflows', {
      ...{ name: newId('workflow'), graph: gated(settings) },
    });
    const { body } = await call('POST', `/api/workflows/${workflow.id}/validate`);
    return [...body.errors, ...body.warnings].map(({ code, path, message }) => ({
      code,
      path,
      message,
    }));
  };

  test('names approvers that no longer exist, or cannot approve', async () => {
    const viewer = await caller({ role: 'viewer' });
    expect(await issues({ approvers: { members: ['mem_gone', viewer.id] } })).toEqual([
      {
        code: 'gate_approver_unknown',
        path: 'nodes[0].approvers.members[0]',
        message:
          "Node 'review': the approver 'mem_gone' no longer exists: remove it from approvers.members, or name another member",
      },
      {
        code: 'gate_approver_cannot_decide',
        path: 'nodes[0].approvers.members[1]',
        message: `Node 'review': the approver 'Member ${viewer.id.slice(-4)}' does not have the permission 'approve_gates': grant it, or name another member`,
      },
      {
        code: 'gate_too_few_approvers',
        path: 'nodes[0].approvers',
        message:
          "Node 'review': 1 approval is required, but only 0 members can decide: require fewer, or let more members decide",
      },
    ]);
  });

  test('compares the required approvals with the members who can decide', async () => {
    const [ann, ben] = [await caller(), await caller()];
    const members = [ann.id, ben.id];
    expect(await issues({ required: 2, approvers: { members } })).toEqual([]);
    expect(await issues({ required: 3, approvers: { members } })).toMatchObject([
      { code: 'gate_too_few_approvers', path: 'nodes[0].required' },
    ]);
    expect(
      await issues({ required: 2, not_the_starter: true, approvers: { members } }),
    ).toMatchObject([
      {
        code: 'gate_too_few_approvers',
        message: /so the gate stays open when one of them starts the run/,
      },
    ]);
  });

  test('refuses a schema that cannot check an input; such a workflow does not start', async () => {
    const settings = { input_schema: { $async: true, type: 'object' } };
    expect(await issues(settings)).toEqual([
      {
        code: 'gate_schema_invalid',
        path: 'nodes[0].input_schema',
        message: "Node 'review': input_schema '$async' is not supported",
      },
    ]);
    const workflowId = await engine.define(gated(settings));
    expect(await call('POST', `/api/workflows/${workflowId}/runs`, {})).toMatchObject({
      status: 400,
      body: {
        detail: "Workflow graph invalid: Node 'review': input_schema '$async' is not supported",
      },
    });
  });
});
