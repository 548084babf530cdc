import assert from 'node:assert/strict';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { echo, edge, eventually, mock } from '#test/support/engine.ts';
import { call } from '#test/support/sub-workflows.ts';
import { cutTest } from './cuts.ts';

cutTest<string>({
  name: 'a map of runs, and a step that fails and is resumed',
  prepare: async (lane) => {
    await lane.create('/api/workflows', {
      name: 'Child',
      graph: {
        nodes: [
          mock('think', { output: '{of}', cost_usd: 0.001 }),
          { id: 'send', kind: 'tool', tool_name: 'custom:steady', params: { act: '{of}' } },
        ],
        edges: [edge('think', 'send')],
      },
    });
    const { secret } = await lane.create('/api/webhooks', {
      url: lane.outside.endpointUrl('good'),
      events: ['run.completed', 'run.failed'],
    });
    lane.outside.learnSecret('good', secret);
    const graph = {
      nodes: [
        { id: 'each', kind: 'map', items: '[1, 2]', concurrency: 2 },
        call('sub', 'Child', { input: { of: '{act} {each.item}' } }),
        { id: 'again', kind: 'loop', expression: 'true', max_iterations: 2 },
        mock('turn', { output: '{again.iterations}', cost_usd: 0.001 }),
        mock(
          'bad',
          { output: 'good', cost_usd: 0.001, fail_times: 1 },
          { retry: { max_attempts: 1 } },
        ),
        echo('last', 'bad'),
      ],
      edges: [
        edge('each', 'sub', 'true'),
        edge('sub', 'each'),
        edge('each', 'again'),
        edge('again', 'turn', 'true'),
        edge('turn', 'again'),
        edge('again', 'bad', 'false'),
        edge('bad', 'last'),
      ],
    };
    return (await lane.create('/api/workflows', { name: 'Parent', graph })).id;
  },
  drive: async (lane, workflowId, id) => {
    const runId = await lane.start(workflowId, id);
    // A try whose start was written and not answered counts, so that the next one succeeds.
    const failed = (await lane.until(runId, 'success', 'failed')) === 'failed';
    if (failed) {
      const path = `/api/runs/${runId}/resume`;
      await lane.act({ kind: 'resume', method: 'POST', path, about: { runId } });
    }
    assert.equal(await lane.until(runId, 'success'), 'success');
    assert.equal(await lane.costOf(runId), 3_000, 'each result is paid for once');
    const children = await lane.db.anyFirst(sql.type(z.object({ id: z.string() }))`
      SELECT id FROM runs WHERE parent_run_id = ${runId}`);
    assert.equal(children.length, 2, 'one child for each item');
    const { children_cost_usd: cost } = await lane.read(`/api/runs/${runId}`);
    assert.equal(cost, 0.002, 'what the children have cost');
    const events = () => lane.eventsOf(runId);
    const expected = ['run.completed', ...(failed ? ['run.failed'] : [])];
    await eventually(() => events().length >= expected.length);
    assert.deepEqual(events(), expected, 'one event for each change');
    for (const child of children) assert.deepEqual(lane.effectsOf(child), ['send:0']);
  },
});
