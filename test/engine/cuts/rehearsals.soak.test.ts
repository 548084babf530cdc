import assert from 'node:assert/strict';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { echo, edge, eventually, mock } from '#test/support/engine.ts';
import { cutTest } from './cuts.ts';

const send = { id: 'send', kind: 'tool', tool_name: 'custom:steady', params: { act: '{act}' } };
const graphs = {
  first: {
    nodes: [mock('draft', { output: 'one', cost_usd: 0.001 }), send, echo('last', 'draft')],
    edges: [edge('draft', 'send'), edge('send', 'last')],
  },
  second: {
    nodes: [
      mock('draft', { output: 'one', cost_usd: 0.001 }),
      send,
      echo('last', "draft + '!'"),
      { id: 'hold', kind: 'tool', tool_name: 'delay', params: { seconds: 600 } },
    ],
    edges: [edge('draft', 'send'), edge('send', 'last'), edge('last', 'hold')],
  },
};

const found = z.object({ id: z.string() });

cutTest<undefined>({
  name: 'a draft tried on a past run and published, a fork, and a cancel',
  prepare: async () => undefined,
  drive: async (lane, _, id) => {
    const post = (kind: string, path: string, body: object, rest: object = {}) =>
      lane.act({ kind, method: 'POST', path, body, ...rest });
    await post('create workflow', '/api/workflows', { name: id, graph: graphs.first });
    const workflowId = await lane.db.oneFirst(sql.type(found)`
      SELECT id FROM workflows WHERE name = ${id}`);
    const path = `/api/workflows/${workflowId}`;
    const runId = await lane.start(workflowId, id);
    assert.equal(await lane.until(runId, 'success', 'failed'), 'success');

    const draft = { path: `${path}/draft`, body: { graph: graphs.second } };
    await lane.act({ kind: 'save draft', method: 'PUT', ...draft });
    const { etag } = await lane.read(`${path}/draft`);
    await post('experiment', `${path}/experiments`, { candidate: 'draft', runs: [runId] });
    const experimentId = await lane.db.oneFirst(sql.type(found)`
      SELECT id FROM experiments WHERE workflow_id = ${workflowId}`);
    const isOver = async () =>
      lane.db.exists(sql.type(z.object({}))`
        SELECT FROM background_jobs WHERE id = ${experimentId} AND status <> 'running'`);
    await eventually(isOver, 20_000);
    const { summary } = await lane.read(`/api/experiments/${experimentId}`);
    assert.deepEqual([summary.changed, summary.failed], [1, 0], 'one changed run');
    await post(...(['publish draft', `${path}/publish`, { from_draft: true }] as const), {
      headers: { 'if-match': `"${etag}"` },
      about: { workflowId },
    });

    const again = () =>
      post(...(['fork', `/api/runs/${runId}/fork`, { from_step: 'last', version: 2 }] as const), {
        headers: { 'idempotency-key': `fork-${id}` },
      });
    const fork = await again();
    assert.equal((await again()).id, fork.id, 'the key gives the same fork');
    const isHeld = async () =>
      lane.db.exists(sql.type(z.object({}))`
        SELECT FROM steps WHERE run_id = ${fork.id} AND step_key = 'hold' AND status = 'running'`);
    await eventually(isHeld, 20_000);
    await post('cancel', `/api/runs/${fork.id}/cancel`, {}, { about: { runId: fork.id } });
    assert.equal(await lane.until(fork.id, 'failed', 'success'), 'failed');
    assert.deepEqual(lane.effectsOf(runId), ['send:0']);
    assert.deepEqual(lane.effectsOf(fork.id), [], 'the fork does not send again');
  },
});
