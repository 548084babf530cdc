import { describe, expect, test } from '@jest/globals';
import { oneStep, useTestApi } from '#test/api/test-api.ts';
import { expectRefusal } from '#test/api/refusal.ts';

const api = useTestApi();

const post = (path: string, body?: object) => api.call('POST', path, body);
const create = async (body: object) => (await post('/api/budgets', body)).body;

describe('a budget', () => {
  test('is created, read, changed and deleted', async () => {
    const { status, body, headers } = await post('/api/budgets', {
      name: 'Month',
      limit_usd: 50,
      reservation_estimate_usd: 0.25,
    });
    expect(status).toBe(201);
    expect(headers['location']).toBe(`/api/budgets/${body.id}`);
    const now = new Date();
    const month = (offset: number) =>
      new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + offset, 1)).toISOString();
    expect(body).toEqual({
      id: expect.stringMatching(/^bud_/),
      name: 'Month',
      alerts: true,
      scope: 'workspace',
      workflow_id: null,
      window: 'month',
      limit_usd: 50,
      reservation_estimate_usd: 0.25,
      overrun: 'none',
      created_at: expect.any(String),
      etag: expect.any(String),
      status: {
        spent_usd: 0,
        reserved_usd: 0,
        committed_usd: 0,
        remaining_usd: 50,
        pct: 0,
        over: false,
        projected_usd: 0,
        window_start: month(0),
        window_end: month(1),
      },
    });
    expect((await api.call('GET', `/api/budgets/${body.id}`)).body).toEqual(body);
    expect((await api.call('GET', `/api/budgets/${body.id}/status`)).body).toEqual(body.status);
    const history = await api.call('GET', `/api/budgets/${body.id}/history`);
    expect([history.status, history.body]).toEqual([
      200,
      {
        window_start: month(0),
        window_end: month(1),
        limit_usd: 50,
        days: expect.arrayContaining([{ date: now.toISOString().slice(0, 10), spent_usd: 0 }]),
      },
    ]);
    const changed = await api.call('PUT', `/api/budgets/${body.id}`, {
      name: 'Monthly',
      limit_usd: 60,
      reservation_estimate_usd: null,
      window: 'month',
    });
    expect(changed.body).toMatchObject({
      name: 'Monthly',
      limit_usd: 60,
      reservation_estimate_usd: null,
    });
    expect((await api.call('GET', '/api/budgets')).body).toEqual([changed.body]);
    expect((await api.call('DELETE', `/api/budgets/${body.id}`)).status).toBe(204);
    for (const [method, path] of [
      ['GET', ''],
      ['GET', '/status'],
      ['GET', '/history'],
      ['PUT', ''],
      ['DELETE', ''],
    ] as const) {
      const answer = await api.call(
        method,
        `/api/budgets/${body.id}${path}`,
        method === 'PUT' ? {} : undefined,
      );
      expect([method, answer.status, answer.body]).toEqual([
        method,
        404,
        { detail: 'Budget not found' },
      ]);
    }
  });

  test('has windows of every kind; total has no bounds', async () => {
    for (const window of ['day', 'week', 'month']) {
      const { status, id } = await create({ name: window, window, limit_usd: 1 });
      const [start, end] = [Date.parse(status.window_start), Date.parse(status.window_end)];
      expect(start).toBeLessThanOrEqual(Date.now());
      expect(end).toBeGreaterThan(Date.now());
      if (window === 'week') expect(new Date(start).getUTCDay()).toBe(1);
      await api.call('DELETE', `/api/budgets/${id}`);
    }
    const { status, id } = await create({ name: 'ever', window: 'total', limit_usd: 1 });
    expect([status.window_start, status.window_end]).toEqual([null, null]);
    await api.call('DELETE', `/api/budgets/${id}`);
  });

  test.each([
    [{ name: 'x', limit_usd: 1, scope: 'workflow' }, /workflow_id/],
    [{ name: 'x', limit_usd: 1, workflow_id: 'wf_1' }, /workflow_id/],
  ])('with %j is refused, naming the field', async (body, detail) => {
    const answer = await post('/api/budgets', body);
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toMatch(detail);
  });

  test('of an unknown workflow returns 404, and its window cannot be changed', async () => {
    const unknown = { name: 'x', limit_usd: 1, scope: 'workflow', workflow_id: 'wf_none' };
    expect((await post('/api/budgets', unknown)).status).toBe(404);
    const { id } = await create({ name: 'x', limit_usd: 1 });
    const answer = await api.call('PUT', `/api/budgets/${id}`, { window: 'day' });
    expectRefusal(answer, 400, 'window: cannot be changed; create another budget');
    await api.call('DELETE', `/api/budgets/${id}`);
  });

  test('refuses a trigger with 402 and the reason', async () => {
    const { id: workflowId } = (await post('/api/workflows', { name: 'x', graph: oneStep })).body;
    const { id } = await create({
      name: 'Tiny',
      scope: 'workflow',
      workflow_id: workflowId,
      limit_usd: 0.5,
      reservation_estimate_usd: 1,
    });
    const answer = await post(`/api/workflows/${workflowId}/runs`, { ticket: 'x' });
    expect([answer.status, answer.body]).toEqual([
      402,
      {
        detail:
          "Budget 'Tiny' exhausted: $0.00 of $0.50 committed; this run needs an estimate of $1.00",
      },
    ]);
    await api.call('DELETE', `/api/budgets/${id}`);
    expect((await post(`/api/workflows/${workflowId}/runs`, { ticket: 'x' })).status).toBe(201);
  });
});

test('a budget override of a healthy run is 409', async () => {
  const { id } = (await post('/api/workflows', { name: 'x', graph: oneStep })).body;
  const run = (await post(`/api/workflows/${id}/runs`, { ticket: 'x' })).body;
  expect((await post(`/api/runs/${run.id}/budget-override`, { approved: true })).status).toBe(409);
});
