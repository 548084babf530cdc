import { once } from 'node:events';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { z } from 'zod';
import type { App } from '#api/deps.ts';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import type { StreamFrame } from '#shared/contract/runs/stream.ts';
import { sql } from '#shared/db/pool.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { callerOf } from '#test/api/test-api.ts';

const { engine, call } = useEngineApi();
/** Two instances of the API in one process. */
let apps: App[];
beforeAll(async () => {
  apps = [engine.app, await engine.startAnother()];
});

const start = async (graph: GraphInput, input: object = {}): Promise<string> => {
  const { body: workflow } = await call('POST', '/api/workflows', { name: 'Lifecycle', graph });
  const { status, body } = await call('POST', `/api/workflows/${workflow.id}/runs`, input);
  expect(status).toBe(201);
  return body.run_id;
};

/** The next step is slow, so that the response to the action is read first. */
const slow = { delay_ms: 500 };

const gated: GraphInput = {
  nodes: [
    { id: 'draft', kind: 'agent', prompt: 'Answer {ticket}', mock: { output: 'Dear customer' } },
    { id: 'review', kind: 'human_gate', label: 'Review', prompt: 'Send {draft}?' },
    { id: 'send', kind: 'agent', prompt: '{draft}: {note}', mock: { ...slow, output: 'sent' } },
  ],
  edges: [
    { source: 'draft', target: 'review' },
    { source: 'review', target: 'send' },
  ],
};

/** Fails `times` times, then succeeds. */
const failing = (times: number): GraphInput => ({
  nodes: [
    { id: 'first', kind: 'agent', mock: { output: 'one' } },
    { id: 'second', kind: 'agent', mock: { ...slow, output: 'two', fail_times: times } },
  ],
  edges: [{ source: 'first', target: 'second' }],
});

const listen = async (runId: string, app: App) => {
  const { port } = app.server.address() as { port: number };
  const socket = new WebSocket(`ws://127.0.0.1:${port}/api/runs/${runId}/stream`);
  const frames: StreamFrame[] = [];
  socket.on('message', (data) => frames.push(JSON.parse((data as Buffer).toString())));
  await once(socket, 'open');
  return { socket, frames };
};

describe('a run waiting at a gate', () => {
  test('is paused, listed, approved once with input, succeeds, and is streamed by both processes', async () => {
    const runId = await start(gated, { ticket: 'hello' });
    const paused = await engine.until(runId, ['paused']);
    expect(paused.pending_gate).toMatchObject({
      node_id: 'review',
      label: 'Review',
      prompt: 'Send Dear customer?',
    });
    const { body } = await call('GET', '/api/approvals');
    expect(body.approvals).toEqual([
      expect.objectContaining({
        run_id: runId,
        node_id: 'review',
        workflow_name: 'Lifecycle',
        prompt: 'Send Dear customer?',
      }),
    ]);

    const listeners = await Promise.all(apps.map(async (app) => listen(runId, app)));
    const decisions = await Promise.all(
      apps.map((app) =>
        callerOf(app)('POST', `/api/runs/${runId}/approve`, { input: { note: 'now' } }),
      ),
    );
    expect(decisions.map((each) => each.status).sort()).toEqual([200, 409]);
    expect(decisions.find((each) => each.status === 200)?.body.status).toBe('running');

    const done = await engine.until(runId, ['success']);
    expect(done.output).toEqual({ send: 'sent' });
    expect((await call('GET', '/api/approvals')).body.approvals).toEqual([]);
    for (const { socket, frames } of listeners) {
      while (frames.at(-1)?.type !== 'run_completed') await once(socket, 'message');
      const after = frames.filter((frame) => !('node_id' in frame) || frame.node_id === 'send');
      expect(after).toEqual([
        { run_id: runId, type: 'step_started', node_id: 'send', label: 'send' },
        { run_id: runId, type: 'step_completed', node_id: 'send' },
        { run_id: runId, type: 'run_completed' },
      ]);
      socket.close();
    }
  });

  test('fails with the rejection reason, which is stored with the decision', async () => {
    const runId = await start(gated, { ticket: 'hello' });
    const asked = await engine.until(runId, ['paused']);
    const gateOf = (run: typeof asked) => run.steps.find((step) => step.node_id === 'review');
    expect(gateOf(asked)).not.toHaveProperty('decision');
    const body = { approved: false, reason: '  too expensive: "€ 5"\n ' };
    expect((await call('POST', `/api/runs/${runId}/approve`, body)).status).toBe(200);
    const failed = await engine.until(runId, ['failed']);
    const reason = 'too expensive: "€ 5"';
    const error = `Rejected at gate 'Review': ${reason}`;
    expect(failed).toMatchObject({
      error,
      failure: { kind: 'rejected', node_id: 'review' },
      resumable: true,
    });
    expect((await engine.frames(runId)).slice(-2)).toEqual([
      { run_id: runId, type: 'step_failed', node_id: 'review', error },
      { run_id: runId, type: 'run_failed', error },
    ]);
    const at = expect.stringMatching(/^2.*Z$/);
    expect(gateOf(failed)).toMatchObject({
      status: 'failed',
      error: failed.error,
      decision: { approved: false, by: 'Owner', at, reason },
    });
    const { body: log } = await call('GET', '/api/audit?limit=1');
    expect(log.logs[0]).toMatchObject({
      action: 'reject',
      target_id: runId,
      details: { node_id: 'review', step_key: 'review', reason },
    });

    await call('POST', `/api/runs/${runId}/resume`);
    const again = await engine.until(runId, ['paused']);
    expect(gateOf(again)).not.toHaveProperty('decision');
    await call('POST', `/api/runs/${runId}/approve`, { input: { note: 'x' }, reason: ' ' });
    const done = await engine.until(runId, ['success']);
    expect(gateOf(done)?.decision).toEqual({
      ...{ approved: true, by: 'Owner', by_kind: 'member', at, reason: null },
    });
    const { body: later } = await call('GET', '/api/audit?limit=1');
    expect(later.logs[0]).toMatchObject({ action: 'approve', target_id: runId });
    expect(later.logs[0].details).toMatchObject({ node_id: 'review', step_key: 'review' });
    expect(later.logs[0].details).not.toHaveProperty('reason');
  });
});

describe('the events of a run', () => {
  const events = async (runId: string, query = ''): Promise<any> => {
    const { status, body } = await call('GET', `/api/runs/${runId}/events${query}`);
    expect(status).toBe(200);
    return body;
  };

  test('are the frames of its stream in order, each with number and time', async () => {
    const runId = await start(gated, { ticket: 'hello' });
    await engine.until(runId, ['paused']);
    await call('POST', `/api/runs/${runId}/approve`, { input: { note: 'now' } });
    await engine.until(runId, ['success']);
    const all = await events(runId);
    expect(all.next_cursor).toBeNull();
    expect(all.events.map((event: any) => event.frame)).toEqual(await engine.frames(runId));
    const types = all.events.map((event: any) => event.frame.type);
    expect(types).toEqual([
      'step_started',
      'step_completed',
      'step_started',
      'run_paused',
      'step_completed',
      'step_started',
      'step_completed',
      'run_completed',
    ]);
    const { created_at, finished_at } = (await call('GET', `/api/runs/${runId}`)).body;
    const times = all.events.map((event: any) => event.at);
    expect([created_at, ...times]).toEqual([created_at, ...times].sort());
    expect(Date.parse(times.at(-1)) - Date.parse(finished_at)).toBeLessThan(1_000);
    const numbers = all.events.map((event: any) => event.seq);
    expect(numbers).toEqual([...new Set<number>(numbers)].sort((a, b) => a - b));
  });

  test('are paged by number without duplicates or gaps', async () => {
    const runId = await start(gated, { ticket: 'hello' });
    await engine.until(runId, ['paused']);
    const all = await events(runId);
    const seen = [];
    let after = '0';
    for (let pages = 1; ; pages += 1) {
      const page = await events(runId, `?limit=2&after=${after}`);
      seen.push(...page.events);
      if (page.next_cursor === null) {
        expect(pages).toBe(Math.ceil(all.events.length / 2));
        break;
      }
      expect(page.events).toHaveLength(2);
      after = page.next_cursor;
    }
    expect(seen).toEqual(all.events);
    const last = seen.at(-1).seq;
    expect(await events(runId, `?after=${last}`)).toEqual({ events: [], next_cursor: null });
    await call('POST', `/api/runs/${runId}/cancel`);
    const [news] = (await events(runId, `?after=${last}`)).events;
    expect(news.frame).toEqual({ run_id: runId, type: 'run_failed', error: 'Cancelled by Owner' });
  });

  test('are empty before the run starts', async () => {
    const { body: workflow } = await call('POST', '/api/workflows', { name: 'x', graph: gated });
    await engine.db.query(sql.type(z.object({}))`
      INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, trigger, input)
      VALUES ('run_quiet', ${engine.actor.workspaceId}, ${workflow.id}, 1, 'manual', '{}')
    `);
    expect(await events('run_quiet')).toEqual({ events: [], next_cursor: null });
  });
});

describe('a failed run', () => {
  test('is resumed once by concurrent requests, without repeating finished steps', async () => {
    const runId = await start(failing(1));
    const failed = await engine.until(runId, ['failed']);
    expect(failed).toMatchObject({ failure: { kind: 'node', node_id: 'second' }, resumable: true });
    const answers = await Promise.all(
      apps.map((app) => callerOf(app)('POST', `/api/runs/${runId}/resume`)),
    );
    expect(answers.map((each) => each.status).sort()).toEqual([200, 409]);
    expect(answers.find((each) => each.status === 200)?.body).toMatchObject({
      status: 'running',
      resumed_count: 1,
    });
    const done = await engine.until(runId, ['success']);
    expect(done.output).toEqual({ second: 'two' });
    expect(done.steps.find((step) => step.node_id === 'first')?.started_at).toBe(
      failed.steps.find((step) => step.node_id === 'first')?.started_at,
    );
  });
});

test('a service with a worker is ready', async () => {
  const { status, body } = await call('GET', '/api/ready');
  expect([status, body.status]).toEqual([200, 'ok']);
});
