import assert from 'node:assert/strict';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import type { JsonObject } from '#shared/json.ts';
import { mock } from '#test/support/engine.ts';
import { cutTest } from './cuts.ts';

const call = (tool: string, act: string) => ({ tool, arguments: { act } });

cutTest<string>({
  name: 'an agent whose tool call a person approves',
  prepare: async (lane) => {
    await lane.create('/api/tools', {
      name: 'refund',
      endpoint_url: lane.outside.toolUrl('refund'),
      input_schema: { type: 'object', properties: { act: { type: 'string' } } },
    });
    await lane.create('/api/workflows', {
      name: 'Look up',
      graph: { nodes: [mock('found', { output: 'x', cost_usd: 0.001 })], edges: [] },
      input_schema: { type: 'object', properties: {} },
    });
    const turns: JsonObject[] = [
      { calls: [call('custom:steady', 'a'), call('custom:steady', 'b')], cost_usd: 0.001 },
      {
        calls: [{ tool: 'workflow:Look up', arguments: {} }, call('custom:refund', 'd')],
        cost_usd: 0.001,
      },
      { output: 'done', cost_usd: 0.001 },
    ];
    const tools = [
      'custom:steady',
      'workflow:Look up',
      { name: 'custom:refund', approval: 'always', max_calls: 1 },
    ];
    const graph = { nodes: [mock('a', { turns }, { prompt: '{act}', tools })], edges: [] };
    return (await lane.create('/api/workflows', { name: 'Support', graph })).id;
  },
  drive: async (lane, workflowId, id) => {
    const runId = await lane.start(workflowId, id);
    assert.equal(await lane.until(runId, 'paused', 'success', 'failed'), 'paused');
    const { pending_gates: gates } = await lane.read(`/api/runs/${runId}`);
    await lane.decide(runId, 'a', { approved: true, digest: gates[0].tool_call.digest });
    assert.equal(await lane.until(runId, 'success', 'failed'), 'success');
    assert.deepEqual(
      lane.effectsOf(runId),
      ['a/1.1:0', 'a/1.2:0', 'a/2.2:0'],
      'one call for each call of the model',
    );
    assert.equal(await lane.costOf(runId), 3_000, 'each result is paid for once');
    const children = await lane.db.anyFirst(sql.type(z.object({ key: z.string() }))`
      SELECT parent_step_key AS key FROM runs WHERE parent_run_id = ${runId}`);
    assert.deepEqual(children, ['a/2.1'], 'one run for the call of a workflow');
    const messages = await lane.read(`/api/runs/${runId}/steps/a/messages`);
    assert.deepEqual(
      messages.messages.map(({ role }: { role: string }) => role),
      ['user', 'assistant', 'tool', 'tool', 'assistant', 'tool', 'tool', 'assistant'],
    );
  },
});
