import { beforeAll, describe, expect, test } from '@jest/globals';
import { oneStep, useTestApi } from '#test/api/test-api.ts';

const api = useTestApi();
let workflowId: string;
beforeAll(async () => {
  workflowId = await createWorkflow(oneStep);
});

const createWorkflow = async (graph: unknown): Promise<string> =>
  (await api.call('POST', '/api/workflows', { name: 'Answer tickets', graph })).body.id;
const trigger = (input?: unknown, headers: Record<string, string> = {}, id = workflowId) =>
  api.call('POST', `/api/workflows/${id}/runs`, input, headers);

describe('triggering a run', () => {
  test('returns 201 with the whole run', async () => {
    const { status, body, headers } = await trigger({ ticket: 'hello' });
    expect(status).toBe(201);
    expect(body).toMatchObject({
      id: expect.stringMatching(/^run_[0-9a-z]{26}$/),
      run_id: body.id,
      workspace_id: api.workspaceId,
      workflow_id: workflowId,
      workflow_name: 'Answer tickets',
      workflow_version: 1,
      status: 'pending',
      trigger: 'manual',
      input: { ticket: 'hello' },
      error: null,
      failure: null,
      resumable: false,
      cost_usd: 0,
      steps: [],
      checkpoints: [],
      pending_gate: null,
      pending_gates: [],
      evals: null,
      resumed_count: 0,
      temporal: { workflow_id: body.id },
    });
    expect(body.temporal.url).toMatch(
      /^http:\/\/127\.0\.0\.1:\d+\/namespaces\/default\/workflows\/run_/,
    );
    expect(headers['location']).toBe(`/api/runs/${body.id}`);
  });

  test('without a body gives the run an empty input', async () => {
    expect((await trigger()).body.input).toEqual({});
    const declared = await api.send({
      method: 'POST',
      url: `/api/workflows/${workflowId}/runs`,
      headers: { 'content-type': 'application/json' },
    });
    expect([declared.status, declared.body.input]).toEqual([201, {}]);
  });

  test('of an invalid graph is refused, creates no run and uses up no key', async () => {
    const id = await createWorkflow({
      nodes: [{ id: 'a', kind: 'tool', tool_name: 'nope' }],
      edges: [],
    });
    const key = { 'idempotency-key': 'order 16' };
    const { status, body } = await trigger({}, key, id);
    expect(status).toBe(400);
    expect(body.detail).toMatch(/^Workflow graph invalid: /);
    expect((await api.call('GET', `/api/workflows/${id}/runs`)).body.runs).toEqual([]);
    await api.call('PUT', `/api/workflows/${id}`, { graph: oneStep });
    expect((await trigger({}, key, id)).status).toBe(201);
  });

  test('pins the current version', async () => {
    const id = await createWorkflow(oneStep);
    const first = await trigger({ ticket: 'x' }, {}, id);
    await api.call('PUT', `/api/workflows/${id}`, {
      graph: { nodes: [{ id: 'b', kind: 'merge' }], edges: [] },
    });
    expect((await api.call('GET', `/api/runs/${first.body.id}`)).body.workflow_version).toBe(1);
    expect((await trigger({}, {}, id)).body.workflow_version).toBe(2);
  });
});

describe('an Idempotency-Key', () => {
  test('returns the same run with 200 and idempotent-replayed', async () => {
    const key = { 'idempotency-key': 'order 17/a' };
    const first = await trigger({ ticket: 'a', n: 1 }, key);
    const second = await trigger({ n: 1, ticket: 'a' }, key);
    expect([first.status, first.headers['idempotent-replayed']]).toEqual([201, undefined]);
    expect([second.status, second.headers['idempotent-replayed']]).toEqual([200, 'true']);
    expect(second.body.id).toBe(first.body.id);
    expect(Object.keys(second.body)).toEqual(Object.keys(first.body));
  });

  test('with another input gets 422', async () => {
    const key = { 'idempotency-key': 'order 18' };
    await trigger({ ticket: 'a' }, key);
    const { status, body } = await trigger({ ticket: 'b' }, key);
    expect(status).toBe(422);
    expect(body.detail).toMatch(/Idempotency-Key/);
  });

  test('applies per workflow', async () => {
    const key = { 'idempotency-key': 'order 19' };
    const other = await createWorkflow(oneStep);
    const answers = [
      await trigger({ ticket: 'a' }, key),
      await trigger({ ticket: 'b' }, key, other),
    ];
    expect(answers.map((answer) => answer.status)).toEqual([201, 201]);
  });

  test('starts one run for ten parallel triggers', async () => {
    const key = { 'idempotency-key': 'order 20' };
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => trigger({ ticket: 'a' }, key)),
    );
    expect(answers.map((answer) => answer.status).sort()).toEqual([...Array(9).fill(200), 201]);
    expect(new Set(answers.map((answer) => answer.body.id)).size).toBe(1);
  });

  test.each(['', 'x'.repeat(256), 'grün', 'tab\there'])('%j is refused', async (key) => {
    const { status, body } = await trigger({}, { 'idempotency-key': key });
    expect(status).toBe(400);
    expect(body.detail).toMatch(/^Invalid header: idempotency-key must be 1 to 255 printable/);
  });
});

describe('lists', () => {
  test('page through all runs, newest first, none twice', async () => {
    const id = await createWorkflow(oneStep);
    const made: string[] = [];
    for (let i = 0; i < 5; i += 1) {
      made.unshift((await trigger({ ticket: String(i) }, {}, id)).body.id);
    }
    const seen: string[] = [];
    let cursor: string | null = null;
    do {
      const query: string = cursor === null ? '' : `&cursor=${encodeURIComponent(cursor)}`;
      const { status, body } = await api.call('GET', `/api/workflows/${id}/runs?limit=2${query}`);
      expect(status).toBe(200);
      seen.push(...body.runs.map((run: { id: string }) => run.id));
      cursor = body.next_cursor;
    } while (cursor !== null);
    expect(seen).toEqual(made);
  });

  test('concurrent reads of a run see earlier changes', async () => {
    const { id } = (await trigger({ ticket: 'x' })).body;
    const read = async (runId: string) => {
      const { status, body } = await api.call('GET', `/api/runs/${runId}`);
      return [status, body.status ?? body.detail];
    };
    const before = Array.from({ length: 10 }, () => read(id));
    const unknown = Array.from({ length: 10 }, () => read('run_unknown'));
    await api.call('POST', `/api/runs/${id}/cancel`);
    const after = Array.from({ length: 10 }, () => read(id));
    for (const answer of await Promise.all(after)) expect(answer).toEqual([200, 'failed']);
    for (const [status] of await Promise.all(before)) expect(status).toBe(200);
    expect(new Set((await Promise.all(unknown)).map(String))).toEqual(
      new Set(['404,Run not found']),
    );
  });

  test('filter by workflow, status, trigger and time', async () => {
    const id = await createWorkflow(oneStep);
    const run = (await trigger({ ticket: 'x' }, {}, id)).body;
    const count = async (query: string) =>
      (await api.call('GET', `/api/runs?workflow_id=${id}&${query}`)).body.runs.length;
    expect(await count('status=pending')).toBe(1);
    expect(await count('status=success')).toBe(0);
    expect(await count('trigger=manual')).toBe(1);
    expect(await count('trigger=webhook')).toBe(0);
    expect(await count(`since=${encodeURIComponent(run.created_at)}`)).toBe(1);
    expect(await count('since=2100-01-01T00:00:00%2B02:00')).toBe(0);
    expect(await count('since=0001-01-02T00:00:00Z')).toBeGreaterThan(0);
  });

  test('of an unknown workflow return 404, and of approvals are empty', async () => {
    expect((await api.call('GET', '/api/workflows/wf_unknown/runs')).body).toEqual({
      detail: 'Workflow not found',
    });
    expect((await api.call('GET', '/api/approvals')).body).toEqual({
      approvals: [],
      next_cursor: null,
    });
  });
});

describe('acting on a run', () => {
  test('cancels a pending run once, then returns 409', async () => {
    const { id } = (await trigger({ ticket: 'x' })).body;
    const cancelled = await api.call('POST', `/api/runs/${id}/cancel`);
    expect(cancelled.status).toBe(200);
    expect(cancelled.body).toMatchObject({
      status: 'failed',
      error: 'Cancelled by Owner',
      failure: { kind: 'cancelled' },
    });
    expect((await api.call('POST', `/api/runs/${id}/cancel`)).status).toBe(409);
    expect((await api.call('POST', `/api/runs/${id}/approve`, {})).status).toBe(409);
  });

  test('refuses to approve or resume a pending run', async () => {
    const { id } = (await trigger({ ticket: 'x' })).body;
    for (const action of ['approve', 'resume']) {
      const { status, body } = await api.call('POST', `/api/runs/${id}/${action}`);
      expect(status).toBe(409);
      expect(typeof body.detail).toBe('string');
    }
  });

  test.each(['approve', 'resume', 'cancel'])('%s of an unknown run is 404', async (action) => {
    const { status, body } = await api.call('POST', `/api/runs/run_unknown/${action}`);
    expect([status, body]).toEqual([404, { detail: 'Run not found' }]);
  });
});
