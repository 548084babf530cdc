import assert from 'node:assert/strict';
import { echo, edge, mock } from '#test/support/engine.ts';
import { cutTest } from './cuts.ts';

cutTest<string>({
  name: 'a run under a quota and two budgets, started with a key',
  background: true,
  prepare: async (lane) => {
    const graph = {
      nodes: [
        echo('shape', 'act'),
        mock('draft', { output: 'a draft', cost_usd: 0.001 }),
        { id: 'send', kind: 'tool', tool_name: 'custom:steady', params: { act: '{act}' } },
        { id: 'long', kind: 'condition', expression: 'len(draft) > 3' },
        mock('polish', { output: 'a letter', cost_usd: 0.002, delay_ms: 30 }),
      ],
      edges: [
        edge('shape', 'draft'),
        edge('draft', 'send'),
        edge('send', 'long'),
        edge('long', 'polish', 'true'),
      ],
    };
    const { id } = await lane.create('/api/workflows', { name: 'Order', graph });
    await lane.create('/api/budgets', { name: 'All', limit_usd: 100 });
    await lane.create('/api/budgets', {
      ...{ name: 'Orders', limit_usd: 100, scope: 'workflow', workflow_id: id },
      reservation_estimate_usd: 0.01,
    });
    return id;
  },
  drive: async (lane, workflowId, id) => {
    const runId = await lane.start(workflowId, id);
    assert.equal(await lane.until(runId, 'success', 'failed'), 'success');
    assert.equal(await lane.start(workflowId, id), runId, 'the key gives the same run');
    assert.deepEqual(lane.effectsOf(runId), ['send:0'], 'one call of the tool');
    assert.equal(await lane.costOf(runId), 3_000, 'each result is paid for once');
  },
});
