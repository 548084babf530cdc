import { afterEach, describe, expect, test } from '@jest/globals';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Webhook as SvixWebhook } from 'svix';
import { unrestricted } from '#shared/contract/policies/policy.ts';
import { findShown } from '#shared/db/gates/shown.ts';
import { replacePolicies } from '#shared/db/policies/policies.ts';
import { redeliver } from '#shared/db/webhooks/deliveries.ts';
import { secretContext } from '#shared/db/webhooks/endpoints.ts';
import { sql } from '#shared/db/pool.ts';
import { createSealer } from '#shared/crypto/sealing.ts';
import { cancelRun, decideGate, resumeRun } from '#shared/operations/runs/runs.ts';
import { standardHeaders } from '#shared/webhooks/delivery-request.ts';
import type { Seen } from '#test/fakes/http-server.ts';
import { echo, edge, eventually, mock } from '#test/support/engine.ts';
import { startRunWebhooks } from '#test/support/run-webhooks.ts';
import { useStage } from '#test/support/stage.ts';

const hooks = useStage(startRunWebhooks);
afterEach(async () => {
  await hooks.engine.db.query(sql.unsafe`DELETE FROM data_endpoints`);
});

const trigger = async (nodes: unknown[], edges: unknown[] = [], name = 'Book a payment') => {
  const { engine } = hooks;
  return engine.trigger(await engine.define({ nodes, edges } as never, name));
};
const gate = (id: string) => ({ id, kind: 'human_gate', prompt: `Send ${id}?` });
const decide = (runId: string, nodeId: string) =>
  decideGate(hooks.engine.deps, { actor: hooks.engine.actor, runId, approved: true, nodeId });
const TIME = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
const headersOf = ({ headers }: Seen) => headers as Record<string, string>;

/** Whether both libraries accept a request. */
function verified(body: string, headers: Record<string, string>, secret: string): boolean[] {
  return [new StandardWebhook(secret), new SvixWebhook(secret)].map((library) => {
    try {
      expect(library.verify(body, headers)).toEqual(JSON.parse(body));
      return true;
    } catch {
      return false;
    }
  });
}

describe('a run', () => {
  test('that succeeds sends run.completed with its fields', async () => {
    await hooks.register();
    const runId = await trigger([mock('a', { output: 'x', cost_usd: 0.0025 })]);
    const run = await hooks.engine.until(runId, ['success']);
    const [event] = await hooks.events(runId, 1);
    expect(event).toEqual({
      id: expect.stringMatching(/^oevt_/),
      type: 'run.completed',
      created_at: TIME,
      data: {
        run: {
          id: runId,
          workflow_id: run.workflow_id,
          workflow_name: 'Book a payment',
          workflow_version: 1,
          status: 'success',
          trigger: 'manual',
          parent_run_id: null,
          parent_step_key: null,
          error: null,
          failure: null,
          cost_usd: 0.0025,
          created_at: run.created_at,
          started_at: run.started_at,
          finished_at: run.finished_at,
        },
      },
    });
  });

  test('that fails, and fails again after a resume, sends run.failed for each end', async () => {
    await hooks.register();
    const runId = await trigger([mock('book', { output: 'x', fail_times: 9 })]);
    const run = await hooks.engine.until(runId, ['failed']);
    const [failed] = await hooks.events(runId, 1);
    expect(failed).toMatchObject({
      type: 'run.failed',
      data: {
        run: {
          status: 'failed',
          error: run.error,
          failure: { kind: 'node', node_id: 'book' },
          finished_at: run.finished_at,
        },
      },
    });
    await resumeRun(hooks.engine.deps, { actor: hooks.engine.actor, runId });
    const events = await hooks.events(runId, 2);
    expect(events.map(({ type }) => type)).toEqual(['run.failed', 'run.failed']);
    expect(events[0]!.id).not.toBe(events[1]!.id);
  });

  test('sends only the subscribed events', async () => {
    await hooks.register(['run.failed']);
    const succeeded = await trigger([echo('a')]);
    await hooks.engine.until(succeeded, ['success']);
    const failed = await trigger([mock('a', { output: 'x', fail_times: 9 })]);
    expect((await hooks.events(failed, 1)).map(({ type }) => type)).toEqual(['run.failed']);
    expect(await hooks.requests(succeeded, 0)).toEqual([]);
  });

  test('is not slowed or failed by an endpoint that fails', async () => {
    hooks.answers.push(500, 302, 500);
    await hooks.register();
    const runId = await trigger([echo('a')]);
    await hooks.engine.until(runId, ['success']);
    const requests = await hooks.requests(runId, 4);
    const ids = requests.map((request) => headersOf(request)['webhook-id']);
    expect(new Set(ids)).toEqual(new Set([JSON.parse(requests[0]!.body).id]));
    expect(new Set(requests.map(({ body }) => body)).size).toBe(1);
  });
});

/** The settings of a gate that has none. */
const WITHOUT_RULES = {
  input_schema: null,
  approvers: null,
  required: null,
  not_the_starter: null,
  signed_in: null,
  act_as: null,
  expires_at: null,
  on_timeout: null,
};

const nothing = { effects: 0, writes: 0, more: 0, next_gates: [] };

describe('a gate', () => {
  test('sends run.paused and approval.requested', async () => {
    await hooks.register();
    const tell = {
      ...{ id: 'tell', kind: 'tool', tool_name: 'http_request' },
      params: { url: `${hooks.receiver.url}/tell`, method: 'POST' },
    };
    const runId = await trigger(
      [gate('review'), mock('send', { output: 'ok' }), tell],
      [edge('review', 'send', 'true'), edge('send', 'tell')],
    );
    const events = await hooks.events(runId, 2);
    const shown = await findShown(hooks.engine.db, { runId, step_key: 'review', round: 1 });
    const { pending_gate } = await hooks.engine.run(runId);
    expect(events.map(({ type }) => type).sort()).toEqual(['approval.requested', 'run.paused']);
    for (const { data } of events) {
      expect(data.run).toMatchObject({ id: runId, status: 'paused', finished_at: null });
      expect(data.gate).toEqual({
        kind: 'human_gate',
        node_id: 'review',
        step_key: 'review',
        title: 'review',
        label: 'review',
        prompt: 'Send review?',
        since: pending_gate!.since,
        url: `https://ops.example.com/approvals/${runId}/review`,
        tool_call: null,
        digest: shown?.digest,
        consequences: {
          approve: { effects: 2, writes: 1, more: 0, next_gates: [] },
          reject: nothing,
        },
        ...WITHOUT_RULES,
      });
    }
    await decide(runId, 'review');
    const types = (await hooks.events(runId, 3)).map(({ type }) => type);
    expect(types.at(-1)).toBe('run.completed');
    expect(types).toHaveLength(3);
  });

  test('that opens beside another one is requested once, and each pause is sent', async () => {
    await hooks.register();
    const runId = await trigger([gate('a'), gate('b'), gate('c')], [edge('a', 'c')]);
    expect(
      (await hooks.events(runId, 3)).map(({ type, data }) => [type, data.gate?.['node_id']]).sort(),
    ).toEqual([
      ['approval.requested', 'a'],
      ['approval.requested', 'b'],
      ['run.paused', 'a'],
    ]);
    await decide(runId, 'a');
    const later = (await hooks.events(runId, 5)).slice(3);
    expect(later.map(({ type, data }) => [type, data.gate?.['node_id']]).sort()).toEqual([
      ['approval.requested', 'c'],
      ['run.paused', 'b'],
    ]);
    expect(later.map(({ data }) => data.gate?.['url']).sort()).toEqual([
      `https://ops.example.com/approvals/${runId}/b`,
      `https://ops.example.com/approvals/${runId}/c`,
    ]);
    await cancelRun(hooks.engine.deps, { actor: hooks.engine.actor, runId });
    const [, , , , , cancelled] = await hooks.events(runId, 6);
    expect(cancelled).toMatchObject({
      type: 'run.failed',
      data: { run: { error: 'Cancelled by Owner', failure: { kind: 'cancelled' } } },
    });
  });

  test('of a tool call names the tool, its redacted arguments and its digest', async () => {
    const { engine } = hooks;
    const redaction = { detectors: ['email' as const], patterns: [] };
    await replacePolicies(engine.db, engine.actor, { ...unrestricted, redaction });
    await hooks.register();
    const node = {
      id: 'agent.1:2',
      kind: 'agent',
      prompt: 'Go',
      tools: [
        { name: 'http_request', approval: 'always', fixed: { url: `${hooks.receiver.url}/x` } },
      ],
      mock: {
        turns: [
          { calls: [{ tool: 'http_request', arguments: { body: { to: 'ada@example.com' } } }] },
        ],
      },
    };
    const runId = await trigger([node]);
    const events = await hooks.events(runId, 2);
    const { pending_gate } = await engine.run(runId);
    expect(events.map(({ type }) => type).sort()).toEqual(['approval.requested', 'run.paused']);
    for (const { data } of events) {
      expect(data.gate).toMatchObject({
        kind: 'tool_call',
        node_id: 'agent.1:2',
        step_key: pending_gate!.step_key,
        digest: pending_gate!.tool_call!.digest,
        consequences: { approve: nothing, reject: nothing },
        url: `https://ops.example.com/approvals/${runId}/agent.1%3A2?step=${encodeURIComponent(pending_gate!.step_key)}`,
        tool_call: {
          tool: 'http_request',
          turn: 1,
          arguments: { body: { to: '[REDACTED:email]' } },
          digest: pending_gate!.tool_call!.digest,
        },
      });
    }
    const bodies = (await hooks.requests(runId, 2)).map(({ body }) => body).join('');
    expect(bodies).not.toContain('ada@example.com');
    await replacePolicies(engine.db, engine.actor, unrestricted);
    await engine.cancel(runId);
  });
});

describe('the headers of Standard Webhooks', () => {
  test('are verified by its libraries, which refuse a changed body and an old timestamp', async () => {
    const { secret } = await hooks.register(['run.completed']);
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    const runId = await trigger([echo('a')]);
    const [request] = await hooks.requests(runId, 1);
    const headers = headersOf(request!);
    const { body } = request!;
    expect(headers['webhook-id']).toBe(JSON.parse(body).id);
    expect(headers['webhook-signature']).toMatch(/^v1,[A-Za-z0-9+/]{43}=$/);
    expect(verified(body, headers, secret)).toEqual([true, true]);
    expect(verified(body.replace('success', 'failed'), headers, secret)).toEqual([false, false]);
    expect(verified(body, { ...headers, 'webhook-id': 'other' }, secret)).toEqual([false, false]);
    const old = {
      ...headers,
      'webhook-timestamp': String(Number(headers['webhook-timestamp']) - 600),
    };
    expect(verified(body, old, secret)).toEqual([false, false]);
    const long = await standardHeaders(
      headers['webhook-id']!,
      Buffer.from(body),
      [secret],
      Date.now() - 600_000,
    );
    expect(verified(body, long, secret)).toEqual([false, false]);
    const fresh = await standardHeaders(headers['webhook-id']!, Buffer.from(body), [secret]);
    expect(verified(body, fresh, secret)).toEqual([true, true]);
  });

  test('have a signature of each secret after a rotation', async () => {
    const { id, secret } = await hooks.register(['run.completed']);
    const next = await hooks.rotate(id);
    const runId = await trigger([echo('a')]);
    const [request] = await hooks.requests(runId, 1);
    const headers = headersOf(request!);
    expect(headers['webhook-signature']!.split(' ')).toHaveLength(2);
    expect(verified(request!.body, headers, secret)).toEqual([true, true]);
    expect(verified(request!.body, headers, next)).toEqual([true, true]);
    const other = (await hooks.register(['run.failed'])).secret;
    expect(verified(request!.body, headers, other)).toEqual([false, false]);
  });

  test('keep the id in a redelivery, and fit secrets of earlier releases', async () => {
    const { engine } = hooks;
    const { id } = await hooks.register(['run.completed']);
    const secret = `whsec_${'0123456789abcdefghjkmnpqrstvwxyz'.repeat(2).slice(0, 48)}`;
    const sealer = createSealer(engine.deps.config);
    const sealed = sealer!.seal(secret, secretContext(engine.actor.workspaceId, id));
    await engine.db.query(
      sql.unsafe`UPDATE data_endpoints SET secret = ${sealed} WHERE id = ${id}`,
    );
    const runId = await trigger([echo('a')]);
    const [first] = await hooks.requests(runId, 1);
    expect(verified(first!.body, headersOf(first!), secret)).toEqual([true, true]);
    let deliveryId = '';
    await eventually(async () => {
      const [delivery] = await hooks.deliveries(id);
      deliveryId = delivery!.id;
      return delivery!.status === 'delivered';
    });
    await redeliver(engine.db, engine.actor, { endpointId: id, deliveryId });
    const [, second] = await hooks.requests(runId, 2);
    expect(headersOf(second!)['webhook-id']).toBe(headersOf(first!)['webhook-id']);
    expect(second!.body).toBe(first!.body);
    expect(verified(second!.body, headersOf(second!), secret)).toEqual([true, true]);
  });
});
