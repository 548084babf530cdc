import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { chain, echo, eventually } from '#test/support/engine.ts';
import { useEngineApi } from '#test/api/engine-api.ts';

const tools = useToolServer();
const { engine, call } = useEngineApi({
  env: { ENCRYPTION_KEY: 'a key of this test, long enough' },
});

const review = { id: 'review', kind: 'human_gate', prompt: 'Go on?' } as const;
const readGate = async (runId: string) => {
  await engine.until(runId, ['paused']);
  return (await call('GET', `/api/runs/${runId}/gates/review`)).body;
};
const decide = (runId: string, body: object) => call('POST', `/api/runs/${runId}/approve`, body);
const reasons = async (runId: string) =>
  (
    await engine.db.any(sql.type(z.object({ reason: z.string() }))`
      SELECT reason FROM governance_events WHERE run_id = ${runId}`)
  ).map(({ reason }) => reason);

let made = 0;
async function registered() {
  made += 1;
  const tool = { name: `wire_${made}`, endpoint_url: `${tools.url}/wire` };
  const { body } = await call('POST', '/api/tools', tool);
  const node = {
    id: 'wire',
    kind: 'tool',
    tool_name: `custom:${tool.name}`,
    params: { to: 'Ada' },
  };
  const move = (to: string) =>
    call('PUT', `/api/tools/${body.id}`, { ...tool, endpoint_url: `${tools.url}/${to}` });
  return { tool, node: node as never, move };
}

async function calling() {
  made += 1;
  const child = await engine.define(chain(echo('got', 'amount')), `Child ${made}`);
  const publish = async () => {
    const graph = chain(echo('other', 'amount'));
    await call('PUT', `/api/workflows/${child}`, { graph });
    expect((await call('POST', `/api/workflows/${child}/publish`)).status).toBe(200);
  };
  const node = { id: 'run', kind: 'workflow', workflow: child, input: { amount: '{amount}' } };
  return { child, node: node as never, publish };
}

describe('what an open gate shows', () => {
  test('is outdated once a custom tool behind it changes', async () => {
    const { node, move } = await registered();
    const runId = await engine.start(chain(review, node), {});
    const { digest, consequences } = await readGate(runId);
    const [effect] = consequences.approve.effects;
    expect(effect.target.tool_digest).toMatch(/^sha256:/);
    await move('other');
    const { status, body } = await decide(runId, { digest });
    expect(status).toBe(409);
    const [changed] = body.current.consequences.approve.effects;
    expect(changed).toMatchObject({ arguments: effect.arguments, host: effect.host });
    expect(changed.target.tool_digest).not.toBe(effect.target.tool_digest);
    expect(tools.calls('other')).toEqual([]);
    expect((await decide(runId, { digest: body.current.digest })).status).toBe(200);
    expect(await engine.ended(runId)).toMatchObject({ status: 'success' });
    expect(tools.calls('other')).toHaveLength(1);
  });

  test('says that a tool was deleted', async () => {
    const { tool, node } = await registered();
    const runId = await engine.start(chain(review, node), {});
    const { digest } = await readGate(runId);
    // A tool that a graph in use calls cannot be deleted over the API.
    await engine.db.query(sql.unsafe`DELETE FROM custom_tools WHERE name = ${tool.name}`);
    const { status, body } = await decide(runId, { digest });
    expect([status, body.current.consequences.approve.effects[0].problem]).toEqual([
      409,
      `The tool 'custom:${tool.name}' was deleted: the step will fail`,
    ]);
  });

  test('is outdated once a workflow behind it is published again, unless the node names the version', async () => {
    const { node, publish } = await calling();
    const named = { ...(node as object), id: 'named', version: 1 } as never;
    const runId = await engine.start(chain(review, node), { amount: 1 });
    const fixed = await engine.start(chain(review, named), { amount: 1 });
    const [{ digest }, other] = [await readGate(runId), await readGate(fixed)];
    await publish();
    const { status, body } = await decide(runId, { digest });
    expect(status).toBe(409);
    expect((await decide(runId, { digest: body.current.digest })).status).toBe(200);
    expect((await decide(fixed, { digest: other.digest })).status).toBe(200);
    expect(await engine.ended(runId)).toMatchObject({ output: { run: { other: 1 } } });
    expect(await engine.ended(fixed)).toMatchObject({ output: { named: { got: 1 } } });
  });
});

describe('after a decision', () => {
  /** Approves, and waits for a step between the gate and the effect. */
  async function held(node: never, input: object) {
    const release = tools.hold('slow');
    const before = tools.calls('slow').length;
    const runId = await engine.start(chain(review, tools.node('slow'), node), input as never);
    const { digest } = await readGate(runId);
    expect((await decide(runId, { digest })).status).toBe(200);
    await eventually(() => tools.calls('slow').length > before);
    return { runId, release };
  }

  test('a custom tool that has changed is not called, and the step asks for itself', async () => {
    const { tool, node, move } = await registered();
    const { runId, release } = await held(node, {});
    await move('moved');
    release();
    const { pending_gate: asks } = await engine.until(runId, ['paused']);
    expect(asks).toMatchObject({ kind: 'tool_call', step_key: 'wire' });
    expect(tools.calls('moved')).toEqual([]);
    expect(await reasons(runId)).toEqual([
      `Not sent: 'custom:${tool.name}' has changed since gate 'review' showed it`,
    ]);
    await decide(runId, { digest: asks?.tool_call?.digest });
    expect(await engine.ended(runId)).toMatchObject({ status: 'success' });
    expect(tools.calls('moved')).toHaveLength(1);
  });

  test('a workflow that was published again is not started, and the step asks for itself', async () => {
    const { child, node, publish } = await calling();
    const { runId, release } = await held(node, { amount: 5 });
    await publish();
    release();
    const { pending_gate: asks } = await engine.until(runId, ['paused']);
    expect(asks).toMatchObject({ kind: 'tool_call', step_key: 'run' });
    expect((await call('GET', `/api/runs?workflow_id=${child}`)).body.runs).toEqual([]);
    expect(await reasons(runId)).toEqual([
      `Not sent: 'workflow:${child}' has changed since gate 'review' showed it`,
    ]);
    await decide(runId, { digest: asks?.tool_call?.digest });
    expect(await engine.ended(runId)).toMatchObject({ output: { run: { other: 5 } } });
  });

  test('a workflow is started with what was shown, and with nothing else', async () => {
    const { child, node } = await calling();
    const { runId, release } = await held(node, { amount: 5 });
    // What the rules of the engine exclude: the approver saw another amount.
    await engine.db.query(sql.unsafe`
      UPDATE gate_effects SET shown = jsonb_set(shown::jsonb, '{arguments,amount}', '4')::json
      WHERE run_id = ${runId} AND node_id = 'run'`);
    release();
    const { pending_gate: asks } = await engine.until(runId, ['paused']);
    expect(asks?.tool_call).toMatchObject({ arguments: { amount: 5 } });
    expect((await call('GET', `/api/runs?workflow_id=${child}`)).body.runs).toEqual([]);
    expect(await reasons(runId)).toEqual([
      "Not sent: amount would not be what gate 'review' showed",
    ]);
  });
});
