import { setTimeout as sleep } from 'node:timers/promises';
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { newId } from '#shared/crypto/ids.ts';
import { sql } from '#shared/db/pool.ts';
import type { JsonObject } from '#shared/json.ts';
import { runTick } from '#shared/operations/schedules/ticks.ts';
import { connectMcp } from '#test/fakes/mcp-client.ts';
import { echo, edge } from '#test/support/engine.ts';
import { beside } from '#test/support/lock-waits.ts';
import { call as callOf, childrenOf } from '#test/support/sub-workflows.ts';
import { raceRounds } from '#test/support/soak.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { addCaller } from '#test/api/people/caller.ts';

const row = z.object({});

const { engine, call } = useEngineApi();

type Headers = Record<string, string>;

const caller = (given?: Parameters<typeof addCaller>[1]) =>
  addCaller({ db: engine.db, workspaceId: engine.actor.workspaceId }, given);

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

/** The run that a run has started, as soon as there is one. */
async function childOf(runId: string): Promise<string> {
  for (;;) {
    const [child] = await childrenOf(engine, runId);
    if (child !== undefined) return child.id;
    await sleep(50);
  }
}

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
  test('counts each member once, and the run continues with the last approval', async () => {
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
          digest: expect.stringMatching(/^sha256:/),
          signed_in: { by: 'api_key', key_id: expect.any(String) },
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

  test('is rejected by a single rejection, even by a member who has approved', async () => {
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

  test('counts exactly three of 20 concurrent approvals, and the run continues once', async () => {
    const callers = await Promise.all(Array.from({ length: 20 }, () => caller()));
    for (let round = 0; round < raceRounds(15); round += 1) {
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
  test('refuses others with 403 and an audit entry, and checks their permissions at the decision', async () => {
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

  const losses = {
    'their role': sql.fragment`UPDATE members SET role = 'viewer'`,
    'the permission': sql.fragment`UPDATE members SET overrides = '{"approve_gates": false}'`,
    'their membership': sql.fragment`DELETE FROM members`,
  };
  test.each<[keyof typeof losses, string, JsonObject]>(
    (Object.keys(losses) as (keyof typeof losses)[]).flatMap((loss) => [
      [loss, 'without rules', {}],
      [loss, 'with two approvals', { required: 2 }],
    ]),
  )('refuses a member who loses %s while their decision waits, %s', async (loss, _, settings) => {
    const [ann, ben, cat] = [await caller(), await caller(), await caller()];
    const runId = await waiting(settings);
    const lose = sql.type(row)`${losses[loss]} WHERE id = ${ann.id}`;
    const waits = sql.fragment`UPDATE runs SET updated_at = now() WHERE id = ${runId}`;
    const answer = await beside(
      engine.db,
      waits,
      () => approve(runId, ann.headers),
      () => engine.db.query(lose),
    );
    expect(answer).toMatchObject({
      status: 403,
      body: { detail: "This action requires the 'approve_gates' permission" },
    });
    expect((await approve(runId, ann.headers)).status).toBe(
      loss === 'their membership' ? 401 : 403,
    );
    // Nothing is lost: others decide it, and only their decisions count.
    expect((await approve(runId, ben.headers)).status).toBe(200);
    if (settings['required'] === 2) {
      expect((await engine.run(runId)).status).toBe('paused');
      expect((await approve(runId, cat.headers)).status).toBe(200);
    }
    await engine.until(runId, ['success']);
  });

  test.each<[string, JsonObject]>([
    ['approvers', { approvers: { roles: ['admin', 'editor', 'viewer'] } }],
    ['required', { required: 2 }],
    ['not_the_starter', { not_the_starter: true }],
  ])('refuses a key without a member: %s', async (_, settings) => {
    const key = await caller({ role: 'admin', member: false });
    const runId = await waiting(settings);
    expect(await approve(runId, key.headers)).toMatchObject({
      status: 403,
      body: { detail: /can only be decided by a member: use a session, or a key/ },
    });
  });

  test('excludes the member who started the run, through every route', async () => {
    const [starter, other] = [await caller(), await caller()];
    const runId = await waiting({ not_the_starter: true }, starter.headers);
    const detail = "Gate 'review' cannot be decided by the member who started the run";
    expect(await approve(runId, starter.headers)).toMatchObject({ status: 403, body: { detail } });
    const client = await connectMcp(`${engine.url}/api/mcp`, undefined, starter.headers);
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

  const gateOf = async (runId: string) =>
    (await call('GET', `/api/runs/${runId}`)).body.pending_gate as JsonObject;
  const remove = async ({ id }: { id: string }) =>
    engine.db.query(sql.type(row)`DELETE FROM members WHERE id = ${id}`);

  test('can be decided by admins once too few approvers are left', async () => {
    const [ann, ben, other] = [await caller(), await caller(), await caller()];
    const admin = await caller({ role: 'admin' });
    const starter = await caller({ role: 'admin' });
    const runId = await waiting(
      { not_the_starter: true, required: 2, approvers: { members: [ann.id, ben.id] } },
      starter.headers,
    );
    expect(await gateOf(runId)).toMatchObject({ deciders: 2 });
    expect((await approve(runId, admin.headers)).status).toBe(403);
    expect((await approve(runId, ann.headers)).status).toBe(200);
    // Ben alone is enough for the approval that is missing.
    expect(await gateOf(runId)).toMatchObject({ deciders: 1, decisions: [{ member_id: ann.id }] });
    expect((await approve(runId, admin.headers)).status).toBe(403);
    await remove(ben);
    const gate = await gateOf(runId);
    expect(gate).toMatchObject({
      admins_stand_in: true,
      approvers: { members: [{ id: ann.id }, { id: ben.id, name: null }] },
    });
    const { body } = await call('GET', '/api/approvals?limit=100');
    const listed = body.approvals.find((each: JsonObject) => each['run_id'] === runId);
    expect(listed).toMatchObject({ admins_stand_in: true, deciders: gate['deciders'] });
    expect(await approve(runId, other.headers)).toMatchObject({
      status: 403,
      body: {
        detail:
          "Gate 'review' can only be decided by 2 named members, and by admins, since too few of them are left",
      },
    });
    // The other rules hold for admins, too.
    expect((await approve(runId, starter.headers)).body.detail).toBe(
      "Gate 'review' cannot be decided by the member who started the run",
    );
    expect((await approve(runId, admin.headers)).status).toBe(200);
    const run = await engine.until(runId, ['success']);
    expect(run.steps[0]?.decisions?.map(({ member_id }) => member_id)).toEqual([ann.id, admin.id]);
  });

  test('can be decided by admins while no one has the role, and by the role again after that', async () => {
    const viewer = await caller({ role: 'viewer' });
    const admin = await caller({ role: 'admin' });
    const runId = await waiting({ approvers: { roles: ['viewer'] } });
    expect(await gateOf(runId)).toMatchObject({ admins_stand_in: true });
    await engine.db.query(sql.type(row)`
      UPDATE members SET overrides = '{"approve_gates": true}' WHERE id = ${viewer.id}`);
    expect(await gateOf(runId)).toMatchObject({ deciders: 1 });
    expect((await gateOf(runId))['admins_stand_in']).toBeUndefined();
    expect((await approve(runId, admin.headers)).status).toBe(403);
    await remove(viewer);
    expect((await approve(runId, admin.headers)).status).toBe(200);
    await engine.until(runId, ['success']);
  });

  const dueNow = () => {
    const now = new Date();
    now.setUTCSeconds(0, 0);
    return { cron: `${now.getUTCMinutes()} * * * *`, due_at: now.toISOString() };
  };

  /** The run of a schedule's tick, started as the clock starts it. */
  async function scheduledRun(
    workflowId: string,
    headers: Headers,
    edit: (path: string) => Promise<void> = () => Promise.resolve(),
  ) {
    const { cron, due_at } = dueNow();
    const wanted = { workflow_id: workflowId, cron, input: { amount: 5 } };
    const { body: schedule } = await call('POST', '/api/schedules', wanted, headers);
    await edit(`/api/schedules/${schedule.id}`);
    await engine.db.query(sql.type(row)`
      UPDATE schedules SET effective_from = now() - interval '1 hour' WHERE id = ${schedule.id}`);
    const { workspaceId: workspace_id } = engine.actor;
    const tick = {
      workspace_id,
      schedule_id: schedule.id as string,
      timezone: 'UTC',
      cron,
      due_at,
    };
    const result = (await runTick(engine.deps, tick)) as { run_id: string };
    return { runId: result.run_id, schedule: schedule.id as string };
  }

  test('counts the creator of a schedule as the starter of its runs, even after it is deleted', async () => {
    const [creator, other] = [await caller(), await caller()];
    const workflowId = await engine.define(gated({ not_the_starter: true }));
    const { runId, schedule } = await scheduledRun(workflowId, creator.headers);
    const run = await engine.until(runId, ['paused']);
    expect([run.trigger, run.created_by]).toEqual(['schedule', null]);
    expect((await approve(runId, creator.headers)).status).toBe(403);
    const gone = await call('DELETE', `/api/schedules/${schedule}`, undefined, creator.headers);
    expect(gone.status).toBe(204);
    expect(await approve(runId, creator.headers)).toMatchObject({
      status: 403,
      body: { detail: "Gate 'review' cannot be decided by the member who started the run" },
    });
    expect((await approve(runId, other.headers)).status).toBe(200);
    await engine.until(runId, ['success']);
  });

  test('also counts members who changed what a schedule runs as starters', async () => {
    const [creator, editor, other] = [await caller(), await caller(), await caller()];
    const workflowId = await engine.define(gated({ not_the_starter: true }));
    const { runId } = await scheduledRun(workflowId, creator.headers, async (path) => {
      const name = await call('PUT', path, { name: 'Nightly' }, other.headers);
      const input = await call('PUT', path, { input: { amount: 7 } }, editor.headers);
      expect([name.status, input.status]).toEqual([200, 200]);
    });
    await engine.until(runId, ['paused']);
    for (const { headers } of [creator, editor]) {
      expect((await approve(runId, headers)).status).toBe(403);
    }
    expect((await approve(runId, other.headers)).status).toBe(200);
    await engine.until(runId, ['success']);
  });

  test('counts members who started any run in a chain of forks as starters', async () => {
    const [ann, ben, other] = [await caller(), await caller(), await caller()];
    const runId = await waiting({ not_the_starter: true }, ann.headers);
    const rerun = await call('POST', `/api/runs/${runId}/rerun`, {}, ben.headers);
    expect(rerun.status).toBe(201);
    await engine.until(rerun.body.id, ['paused']);
    const path = `/api/runs/${rerun.body.id}/fork`;
    const forked = await call('POST', path, { from_step: 'review' }, ben.headers);
    await engine.until(forked.body.id, ['paused']);
    for (const { headers } of [ann, ben]) {
      expect(await approve(forked.body.id, headers)).toMatchObject({
        status: 403,
        body: {
          detail:
            "Gate 'review' cannot be decided by a member who started the run or one before it, or set its schedule",
        },
      });
    }
    expect((await approve(forked.body.id, other.headers)).status).toBe(200);
    await engine.until(forked.body.id, ['success']);
  });

  test('counts the starter of a run, or the creator of its schedule, as the starter of its children', async () => {
    const [creator, other] = [await caller(), await caller()];
    const child = await engine.define(gated({ not_the_starter: true }));
    const parent = await engine.define({
      nodes: [callOf('pay', child, { input: { amount: '{amount}' } })],
      edges: [],
    });
    const { runId } = await scheduledRun(parent, creator.headers);
    const childId = await childOf(runId);
    await engine.until(childId, ['paused']);
    expect((await approve(childId, creator.headers)).status).toBe(403);
    expect((await approve(childId, other.headers)).status).toBe(200);
    await engine.until(runId, ['success']);
  });

  test('excludes no member from a run that was started by an event, but still excludes a key without a member', async () => {
    const [owner, key] = [await caller(), await caller({ role: 'admin', member: false })];
    const workflowId = await engine.define(gated({ not_the_starter: true }));
    const hook = await call('POST', `/api/workflows/${workflowId}/webhook`, {}, owner.headers);
    const { pathname } = new URL(hook.body.url);
    const { body } = await call('POST', pathname, { amount: 5 });
    const run = await engine.until(body.run_id, ['paused']);
    expect([run.trigger, run.created_by]).toEqual(['webhook', null]);
    expect(await approve(body.run_id, key.headers)).toMatchObject({
      status: 403,
      body: { detail: expect.stringContaining('can only be decided by a member') },
    });
    expect((await approve(body.run_id, owner.headers)).status).toBe(200);
    await engine.until(body.run_id, ['success']);
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

  test('refuses an input that does not match, with its path, and an approval without an input', async () => {
    const { headers } = await caller();
    const runId = await waiting({ input_schema });
    const { body: run } = await call('GET', `/api/runs/${runId}`);
    expect(run.pending_gate.input_schema).toEqual(input_schema);
    for (const [body, detail] of [
      [{}, 'input.amount is missing: add it'],
      [{ input: { amount: 101 } }, 'input.amount must be <= 100'],
      [{ input: { amount: 1, payee: {} } }, 'input.payee.iban is missing: add it'],
      [
        { input: { amont: 1 } },
        "input.amount is missing: add it; input.amont is not a field of the schema; did you mean 'amount'?",
      ],
      [
        { approved: false, input: { amount: 'a' } },
        'input.amount must be a whole number, not a text',
      ],
    ] as const) {
      expect(await approve(runId, headers, body)).toMatchObject({
        status: 400,
        body: { detail: `Invalid input: ${detail}` },
      });
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

  test('refuses a schema that cannot validate an input; such a workflow does not start', async () => {
    for (const [input_schema, problem] of [
      [{ $async: true, type: 'object' }, "'$async' is not supported"],
      [{ type: 'string' }, "must have the type 'object', because an input is an object"],
      [
        { properties: { a: { minimun: 1 } } },
        "has an unsupported keyword 'minimun' at input_schema.properties.a; did you mean 'minimum'?",
      ],
      [
        { required: ['iban'], additionalProperties: false },
        "fits no input, since input_schema.required has 'iban', which additionalProperties: false forbids: add it to properties, or remove it from required",
      ],
    ] as const) {
      const settings = { input_schema } as unknown as JsonObject;
      const message = `Node 'review': input_schema ${problem}`;
      expect(await issues(settings)).toEqual([
        { code: 'gate_schema_invalid', path: 'nodes[0].input_schema', message },
      ]);
      const workflowId = await engine.define(gated(settings));
      expect(await call('POST', `/api/workflows/${workflowId}/runs`, {})).toMatchObject({
        status: 400,
        body: { detail: `Workflow graph invalid: ${message}` },
      });
    }
  });

  test('names each form in a graph that cannot be used', async () => {
    const form = (id: string, input_schema: JsonObject) => ({
      id,
      kind: 'human_gate',
      input_schema,
    });
    const graph = {
      nodes: [
        form('a', { enum: [1], type: 'object' }),
        form('b', {}),
        form('c', { properties: { x: 1 } }),
      ],
      edges: [],
    };
    const { body: workflow } = await call('POST', '/api/workflows', { name: 'Forms', graph });
    const { body } = await call('POST', `/api/workflows/${workflow.id}/validate`);
    expect(body.errors.map((error: JsonObject) => [error['node_id'], error['path']])).toEqual([
      ['a', 'nodes[0].input_schema'],
      ['c', 'nodes[2].input_schema'],
    ]);
  });
});
