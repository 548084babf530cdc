import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Gate, gateSchema } from '#shared/contract/gates/gate.ts';
import { echo, edge } from '#test/support/engine.ts';
import { addMember } from '#test/support/people.ts';
import { type GateStage, gatesOf, startGateStage } from '#test/support/gate-stage.ts';

let stage: GateStage;
beforeAll(async () => {
  stage = await startGateStage();
}, 60_000);
afterAll(() => stage.close());

const read = async (runId: string, stepKey: string, headers = {}): Promise<Gate> => {
  const { status, body } = await stage.call(
    'GET',
    `/api/runs/${runId}/gates/${encodeURIComponent(stepKey)}`,
    undefined,
    headers,
  );
  expect(status).toBe(200);
  return gateSchema.strict().parse(body);
};

const decide = (runId: string, body: object, headers = {}) =>
  stage.call('POST', `/api/runs/${runId}/approve`, body, headers);

describe('a gate that asks again', () => {
  const loop = {
    nodes: [
      { id: 'again', kind: 'loop', expression: 'ok != true', max_iterations: 3 },
      echo('draft', 'again.iterations'),
      { id: 'ask', kind: 'human_gate', prompt: 'Send {draft}?' },
    ],
    edges: [edge('again', 'draft', 'true'), edge('draft', 'ask'), edge('ask', 'again')],
  } as never;

  test('has the earlier decisions of its loop, newest first', async () => {
    const workflowId = await stage.engine.define(loop);
    const runId = await stage.engine.trigger(workflowId);
    for (const round of [1, 2, 3]) {
      const [gate] = await gatesOf(stage, runId, `ask#${round}`);
      const shown = await read(runId, gate!.step_key);
      expect(shown).toMatchObject({ status: 'open', can_decide: true, iteration: [round] });
      expect(shown.earlier.map(({ step_key }) => step_key)).toEqual(
        ['ask#2', 'ask#1'].slice(3 - round),
      );
      if (round === 3) {
        expect(shown.earlier[0]).toMatchObject({
          iteration: [2],
          prompt: gate!.prompt.replace('3', '2'),
          decision: { approved: true, reason: 'round 2' },
          input: { note: 2 },
        });
      }
      const answer = { step_key: gate!.step_key, reason: `round ${round}`, input: { note: round } };
      expect((await decide(runId, answer)).status).toBe(200);
    }
    await stage.engine.until(runId, ['success']);
    expect(await read(runId, 'ask#3')).toMatchObject({
      status: 'approved',
      can_decide: false,
      decision: { approved: true, reason: 'round 3' },
    });
  });

  test('has the rejection that failed its run, after a resume', async () => {
    const graph = { nodes: [{ id: 'ask', kind: 'human_gate', prompt: 'Pay?' }], edges: [] };
    const runId = await stage.engine.trigger(await stage.engine.define(graph as never));
    await gatesOf(stage, runId, 'ask');
    expect((await decide(runId, { approved: false, reason: 'too much' })).status).toBe(200);
    await stage.engine.until(runId, ['failed']);
    expect((await stage.call('POST', `/api/runs/${runId}/resume`)).status).toBe(200);
    await gatesOf(stage, runId, 'ask');
    const gate = await read(runId, 'ask');
    expect(gate).toMatchObject({ status: 'open', decision: null });
    expect(gate.earlier).toMatchObject([
      { step_key: 'ask', prompt: 'Pay?', decision: { approved: false, reason: 'too much' } },
    ]);
    expect(gate.round).toBe(gate.earlier[0]!.round + 1);
  });

  test('does not count another item of its map as an earlier opening', async () => {
    const graph = {
      nodes: [
        { id: 'each', kind: 'map', items: 'amounts', concurrency: 1 },
        { id: 'ask', kind: 'human_gate', prompt: 'Pay {each.item}?' },
      ],
      edges: [edge('each', 'ask', 'true'), edge('ask', 'each')],
    };
    const workflowId = await stage.engine.define(graph as never);
    const runId = await stage.engine.trigger(workflowId, { amounts: [1, 2] });
    await gatesOf(stage, runId, 'ask#1');
    expect((await decide(runId, {})).status).toBe(200);
    await gatesOf(stage, runId, 'ask#2');
    expect((await read(runId, 'ask#2')).earlier).toEqual([]);
    expect((await decide(runId, {})).status).toBe(200);
    await stage.engine.until(runId, ['success']);
  });
});

describe('a gate as an approver reads it', () => {
  test('explains why its rules exclude the caller, and hides arguments from viewers', async () => {
    const graph = {
      nodes: [
        { id: 'ask', kind: 'human_gate', approvers: { roles: ['viewer'] } },
        {
          ...{ id: 'triage', kind: 'agent', system_prompt: 's', prompt: 'p' },
          tools: [{ name: 'json_transform', approval: 'always' }],
          mock: {
            turns: [{ calls: [{ tool: 'json_transform', arguments: { expression: '1' } }] }],
          },
        },
      ],
      edges: [],
    };
    const runId = await stage.engine.trigger(await stage.engine.define(graph as never));
    await gatesOf(stage, runId, 'ask');
    await gatesOf(stage, runId, 'triage/1.1');
    const editor = await addMember(stage, { role: 'editor' });
    const viewer = await addMember(stage, { role: 'viewer', overrides: { approve_gates: true } });
    expect(await read(runId, 'ask', editor.headers)).toMatchObject({
      can_decide: false,
      refusal: "Gate 'ask' can only be decided by the roles viewer",
      tool: null,
    });
    expect(await read(runId, 'ask', viewer.headers)).toMatchObject({
      can_decide: true,
      refusal: null,
    });
    const onlooker = await addMember(stage, { role: 'viewer' });
    expect(await read(runId, 'triage/1.1', onlooker.headers)).toMatchObject({
      can_decide: false,
      arguments: null,
    });
    expect(await read(runId, 'triage/1.1', editor.headers)).toMatchObject({
      can_decide: true,
      arguments: { expression: '1' },
      tool: { schema: { type: 'object', properties: { expression: {} } }, fixed: [] },
    });
    const gone = await stage.call('GET', `/api/runs/${runId}/gates/nothing`);
    expect(gone).toMatchObject({ status: 404, body: { detail: 'Gate not found' } });
  });

  test('can be checked without a decision', async () => {
    const input_schema = {
      ...{ type: 'object', required: ['amount'], additionalProperties: false },
      properties: { amount: { type: 'integer' } },
    };
    const graph = {
      nodes: [{ id: 'ask', kind: 'human_gate', input_schema, approvers: { roles: ['admin'] } }],
      edges: [],
    };
    const runId = await stage.engine.trigger(await stage.engine.define(graph as never));
    await gatesOf(stage, runId, 'ask');
    const admin = await addMember(stage, { role: 'admin' });
    const editor = await addMember(stage, { role: 'editor' });
    const check = (body: object, headers = admin.headers) =>
      decide(runId, { only_check: true, ...body }, headers);
    expect(await check({})).toMatchObject({
      status: 400,
      body: { detail: 'Invalid input: input.amount is missing: add it' },
    });
    expect((await check({ input: { amount: 1 } }, editor.headers)).status).toBe(403);
    expect(await check({ input: { amount: 1 } })).toMatchObject({
      status: 200,
      body: { status: 'paused' },
    });
    const { body: audit } = await stage.call('GET', `/api/audit?target_id=${runId}`);
    expect(audit.logs).toEqual([]);
    expect((await decide(runId, { input: { amount: 1 } }, admin.headers)).status).toBe(200);
    expect(await check({ input: { amount: 1 } }, admin.headers)).toMatchObject({ status: 200 });
    const other = await addMember(stage, { role: 'admin' });
    expect(await check({ input: { amount: 1 } }, other.headers)).toMatchObject({
      status: 409,
      body: { detail: "Gate 'ask' has already been approved by Ann" },
    });
  });
});
