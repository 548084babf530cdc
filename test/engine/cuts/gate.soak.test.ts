import assert from 'node:assert/strict';
import { signInboundWebhook } from '#client/index.ts';
import { edge, eventually, mock } from '#test/support/engine.ts';
import { cutTest } from './cuts.ts';

interface Hook {
  workflowId: string;
  path: string;
  secret: string;
}

cutTest<Hook>({
  name: 'an event that starts a run with gates, and the events and alerts that it sends',
  background: true,
  prepare: async (lane) => {
    const graph = {
      nodes: [
        {
          ...{ id: 'ok', kind: 'human_gate', prompt: '{act}?', required: 1 },
          ...{ approvers: { roles: ['admin'] }, timeout_seconds: 600, on_timeout: 'reject' },
          input_schema: {
            type: 'object',
            properties: { note: { type: 'string' } },
            required: ['note'],
          },
        },
        { id: 'late', kind: 'human_gate', timeout_seconds: 0.3, on_timeout: 'approve' },
        mock('end', { output: '{note}', cost_usd: 0.001 }),
      ],
      edges: [edge('ok', 'late', 'true'), edge('late', 'end', 'true')],
    };
    const { id: workflowId } = await lane.create('/api/workflows', { name: 'Gated', graph });
    const { url } = await lane.create(`/api/workflows/${workflowId}/webhook`, {});
    await lane.act({
      ...{ kind: 'prepare', method: 'PUT' },
      path: `/api/workflows/${workflowId}/webhook/config`,
      body: { require_signature: true, dedup_window_seconds: 3_600 },
    });
    const { secret } = await lane.create('/api/webhooks', {
      url: lane.outside.endpointUrl('good'),
      events: ['run.completed', 'run.failed', 'run.paused', 'approval.requested'],
    });
    lane.outside.learnSecret('good', secret);
    const { pathname: path } = new URL(url);
    return { workflowId, path, secret: path.split('/').at(-1) ?? '' };
  },
  drive: async (lane, { workflowId, path, secret }, id) => {
    const body = JSON.stringify({ act: id, event_id: id });
    const headers = { ...(await signInboundWebhook({ secret, body })) };
    const send = () =>
      lane.act({
        ...{ kind: 'hook', method: 'POST', path, body, headers, anonymous: true },
        about: { workflowId, nonce: id, eventId: id },
      });
    const { run_id: runId } = await send();
    assert.equal((await send()).run_id, runId, 'the event gives the same run');
    assert.equal(await lane.until(runId, 'paused', 'success', 'failed'), 'paused');
    await lane.decide(runId, 'ok', { approved: true, input: { note: 'yes' } });
    assert.equal(await lane.until(runId, 'success', 'failed'), 'success');
    assert.equal(await lane.costOf(runId), 1_000, 'each result is paid for once');
    const types = [
      'approval.requested',
      'approval.requested',
      'run.completed',
      'run.paused',
      'run.paused',
    ];
    const received = () => lane.eventsOf(runId);
    await eventually(() => received().length >= types.length);
    assert.deepEqual(received(), types, 'one event for each change');
    const alerts = () => lane.outside.alerts.filter((text) => text.includes(runId));
    await eventually(() => alerts().length >= 2);
    assert.equal(new Set(alerts()).size, alerts().length, 'one alert for each gate');
  },
});
