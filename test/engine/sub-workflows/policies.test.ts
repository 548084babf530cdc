import { afterEach, describe, expect, test } from '@jest/globals';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { type Policies, unrestricted } from '#shared/contract/policies/policy.ts';
import { listGovernanceEvents } from '#shared/db/policies/governance.ts';
import { replacePolicies } from '#shared/db/policies/policies.ts';
import { chain, echo, edge, eventually, mock, useEngine } from '#test/support/engine.ts';
import { call, childrenOf } from '#test/support/sub-workflows.ts';

const engine = useEngine();
afterEach(() => set({}));

const set = (policies: Partial<Policies>) =>
  replacePolicies(engine.db, engine.actor, { ...unrestricted, ...policies });
const alone = (...nodes: never[]): GraphInput => ({ nodes, edges: [] });
let names = 0;
const define = async (graph: GraphInput) => {
  names += 1;
  const name = `Workflow ${names}`;
  return { name, id: await engine.define(graph, name) };
};
const events = (runId: string) =>
  listGovernanceEvents(engine.db, engine.actor.workspaceId, {
    ...{ run_id: runId, limit: 200, offset: 0 },
  });

describe('the input of a workflow node', () => {
  test('is redacted before the run that it starts, in both records', async () => {
    const { name } = await define(alone(echo('to') as never));
    await set({ redaction: { detectors: ['email'], patterns: [] } });
    const node = call('sub', name, { input: { to: 'Ask {who}', list: ['{who}'], n: 1 } });
    const runId = await engine.start(alone(node), { who: 'ada@example.com' });
    const run = await engine.ended(runId);
    const redacted = { to: 'Ask [REDACTED:email]', list: ['[REDACTED:email]'], n: 1 };
    const [child] = await childrenOf(engine, runId);
    expect((await engine.run(child!.id)).input).toEqual(redacted);
    expect(run.steps).toMatchObject([
      {
        input: redacted,
        output: { to: 'to' },
        policy: [{ type: 'data_redacted', decision: 'redacted', evidence: { email: 2 } }],
      },
    ]);
    expect(await events(runId)).toMatchObject([{ type: 'data_redacted', node_id: 'sub' }]);
    const { events: history = [] } = await engine.deps.temporal.client.workflow
      .getHandle(child!.id)
      .fetchHistory();
    expect(JSON.stringify(history)).not.toContain(Buffer.from('ada@').toString('base64'));
  });

  test('is checked for blocked values, by the id and the name of the workflow', async () => {
    const { name, id } = await define(alone(echo('a') as never));
    for (const [named, rule] of [
      [name, `workflow:${id}`],
      [id, `workflow:${name}`],
    ] as const) {
      await set({
        tools: [{ tool: rule, blocked_arguments: [{ argument: 'order.country', values: ['XX'] }] }],
      });
      const node = call('sub', named, {
        ...{ input: { order: { country: '{country}' } }, output_key: 'result' },
        retry: { max_attempts: 3, initial_interval_seconds: 0.01 },
      });
      const runId = await engine.start(
        { nodes: [node, echo('handler', 'sub.error')], edges: [edge('sub', 'handler', 'error')] },
        { country: 'XX' },
      );
      const run = await engine.ended(runId);
      const message = `Argument 'order.country' of tool '${rule}' has a blocked value`;
      // Another attempt would be refused, too.
      expect(run.output).toEqual({ handler: { message, kind: 'policy', attempts: 1 } });
      expect(await childrenOf(engine, runId)).toEqual([]);
      expect(await events(runId)).toMatchObject([{ type: 'tool_argument_blocked' }]);
      const other = await engine.start(alone(node), { country: 'FR' });
      expect((await engine.ended(other)).status).toBe('success');
    }
  });

  test('cannot start a workflow that another one must not start, until the policies change', async () => {
    const { name } = await define(alone(echo('a') as never));
    const tool = `workflow:${name}`;
    const callerId = await engine.define(alone(call('sub', name)));
    await set({ tools: [{ tool, allowed_workflow_ids: ['wf_other'] }] });
    const runId = await engine.trigger(callerId);
    const run = await engine.ended(runId);
    expect(run).toMatchObject({
      ...{ status: 'failed', failure: { kind: 'node' } },
      error: `Node 'sub' failed: Tool '${tool}' is not allowed in this workflow`,
      steps: [{ error_kind: 'policy', policy: [{ type: 'policy_denied' }] }],
    });
    await set({ tools: [{ tool, allowed_workflow_ids: [callerId] }] });
    await engine.resume(runId);
    expect(await engine.ended(runId)).toMatchObject({ status: 'success', steps: [{ policy: [] }] });
    // Started by itself, it is no tool.
    await set({ tools: [{ tool, allowed_workflow_ids: [] }] });
    const { id } = await define(alone(echo('b') as never));
    expect((await engine.ended(await engine.trigger(id))).status).toBe('success');
  });

  test('that was allowed when its run started continues under other policies', async () => {
    const { name } = await define(
      chain({ id: 'ok', kind: 'human_gate' }, mock('a', { output: 'a' })),
    );
    const runId = await engine.start(alone(call('sub', name, { input: { n: 1 } })));
    await eventually(async () => (await childrenOf(engine, runId))[0]?.status === 'paused');
    const blocked_arguments = [{ argument: 'n', values: [1] }];
    await set({ tools: [{ tool: `workflow:${name}`, blocked_arguments }] });
    const [child] = await childrenOf(engine, runId);
    await engine.approve(child!.id);
    expect((await engine.ended(runId)).status).toBe('success');
  });
});
