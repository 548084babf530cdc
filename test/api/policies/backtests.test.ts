import { afterEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { newId } from '#shared/crypto/ids.ts';
import { oneStep, useTestApi } from '#test/api/test-api.ts';
import { raceRounds } from '#test/support/soak.ts';

// Without a worker: a backtest stays as it was started.

const api = useTestApi();
afterEach(async () => {
  await api.db.query(sql.unsafe`DELETE FROM background_jobs`);
});

const url = '/api/workspace/policies/backtest';
const since = '2026-01-01';
const start = (body: object = {}) => api.call('POST', url, { policies: {}, since, ...body });
const refusal = async (body: object) => {
  const { status, body: answer } = await start(body);
  return [status, answer.detail];
};
const audit = () =>
  api.db.any(sql.type(z.object({ action: z.string(), target_id: z.string(), details: z.any() }))`
    SELECT action, target_id, details FROM audit_log WHERE action LIKE 'policy_backtest%' ORDER BY seq`);

const none = { judged: 0, would_block: 0, would_redact: 0, would_allow: 0, hidden: 0 };

describe('a backtest', () => {
  test('can be started, read, listed and cancelled, with audit entries', async () => {
    const workflow = (await api.call('POST', '/api/workflows', { name: 'x', graph: oneStep })).body;
    const policies = {
      model_allowlist: ['mock'],
      tools: [{ tool: 'send_email', allowed_workflow_ids: [] }],
      redaction: { detectors: ['email'], patterns: [{ name: 'employee', regex: 'EMP-\\d+' }] },
      // Without effect.
      limits: [{ models: ['mock'], concurrency: 1 }],
    };
    const started = await start({ policies, workflow_id: workflow.id });
    expect(started).toMatchObject({ status: 202, body: { status: 'running' } });
    const { id } = started.body;
    const listed = {
      id,
      status: 'running',
      progress: { done: 0, total: null },
      error: null,
      created_by: expect.stringMatching(/^mem_/),
      created_by_name: expect.any(String),
      created_at: expect.any(String),
      finished_at: null,
      since: '2026-01-01T00:00:00.000Z',
      workflow_id: workflow.id,
      summary: none,
    };
    const read = await api.call('GET', `${url}/${id}`);
    expect(read).toMatchObject({ status: 200 });
    expect(read.body).toEqual({
      ...listed,
      policies,
      steps: [],
      truncated: false,
      next_cursor: null,
    });
    const list = await api.call('GET', url);
    expect(list.body).toEqual({ backtests: [listed], next_cursor: null });
    const cancel = () => api.call('POST', `${url}/${id}/cancel`);
    expect(await cancel()).toMatchObject({ status: 200, body: { id, status: 'cancelled' } });
    expect(await cancel()).toMatchObject({
      status: 409,
      body: { detail: 'This backtest is not running: it is cancelled' },
    });
    expect(await audit()).toEqual([
      {
        action: 'policy_backtest',
        target_id: api.workspaceId,
        details: {
          backtest_id: id,
          since: '2026-01-01T00:00:00.000Z',
          workflow_id: workflow.id,
          models: 1,
          tools: ['send_email'],
          detectors: ['email'],
          patterns: ['employee'],
        },
      },
      {
        action: 'policy_backtest_cancel',
        target_id: api.workspaceId,
        details: { backtest_id: id },
      },
    ]);
  });

  test('does not change the policies in force', async () => {
    const before = (await api.call('GET', '/api/workspace/policies')).body;
    await start({ policies: { model_allowlist: [] } });
    expect((await api.call('GET', '/api/workspace/policies')).body).toEqual(before);
  });

  test('is listed page by page, newest first', async () => {
    const ids = [];
    for (let n = 0; n < 3; n += 1) ids.unshift((await start()).body.id);
    const first = (await api.call('GET', `${url}?limit=2`)).body;
    const second = (await api.call('GET', `${url}?limit=2&cursor=${first.next_cursor}`)).body;
    const seen = [...first.backtests, ...second.backtests].map((each: { id: string }) => each.id);
    expect(seen).toEqual(ids);
    expect(second.next_cursor).toBeNull();
  });
});

describe('is refused for', () => {
  test('policies that cannot be saved, with the same error', async () => {
    const pattern = {
      tools: [{ tool: 'mcp', blocked_arguments: [{ argument: 'a', pattern: '(?=x)' }] }],
    };
    const saved = await api.call('PUT', '/api/workspace/policies', pattern);
    expect(await refusal({ policies: pattern })).toEqual([400, saved.body.detail]);
    expect(await refusal({ policies: { models: [] } })).toEqual([
      400,
      "Invalid body: unknown field 'policies.models'",
    ]);
    expect(await refusal({ policies: { tools: [{ tool: 'delay' }] } })).toEqual([
      400,
      "Invalid body: policies.tools.0.tool 'delay' only waits inside the run and is never refused",
    ]);
  });

  test('an invalid time, or a time in the future', async () => {
    expect(await refusal({ since: 'yesterday' })).toEqual([
      400,
      expect.stringMatching(/^Invalid body: since must be an ISO 8601 date/),
    ]);
    expect(await refusal({ since: new Date(Date.now() + 60_000).toISOString() })).toEqual([
      400,
      'Invalid body: since must not be in the future',
    ]);
    expect(await refusal({ since: undefined })).toEqual([400, expect.stringContaining('since')]);
  });

  test('an unknown workflow', async () => {
    expect(await refusal({ workflow_id: newId('workflow') })).toEqual([404, 'Workflow not found']);
    expect(await refusal({ workflow_id: '' })).toEqual([
      400,
      expect.stringContaining('workflow_id'),
    ]);
  });

  test('a sixth concurrent backtest, even among many concurrent requests', async () => {
    const answers = await Promise.all(Array.from({ length: 10 }, () => start()));
    expect(answers.filter(({ status }) => status === 202)).toHaveLength(5);
    const refused = answers.filter(({ status }) => status === 409);
    expect(refused).toHaveLength(5);
    expect(refused[0]?.body.detail).toBe(
      'A workspace has at most 5 background jobs at a time; wait until one has ended, or cancel one',
    );
    await api.db.query(sql.unsafe`
      UPDATE background_jobs SET status = 'done', finished_at = now()
      WHERE id = (SELECT min(id) FROM background_jobs)`);
    expect((await start()).status).toBe(202);
  });

  test('an unknown backtest, and an invalid page', async () => {
    const unknown = `${url}/${newId('job')}`;
    const notFound = { status: 404, body: { detail: 'Backtest not found' } };
    expect(await api.call('GET', unknown)).toMatchObject(notFound);
    expect(await api.call('POST', `${unknown}/cancel`)).toMatchObject(notFound);
    const { id } = (await start()).body;
    for (const query of ['cursor=x', 'limit=0', 'effect=blocked', 'what=1']) {
      expect([query, (await api.call('GET', `${url}/${id}?${query}`)).status]).toEqual([
        query,
        400,
      ]);
    }
    expect((await api.call('GET', `${url}?cursor=x`)).status).toBe(400);
  });
});

test('a race between a cancel and the end has one winner', async () => {
  for (let round = 0; round < raceRounds(20); round += 1) {
    const { id } = (await start()).body;
    const [cancelled] = await Promise.all([
      api.call('POST', `${url}/${id}/cancel`),
      api.db.query(sql.unsafe`
        UPDATE background_jobs SET status = 'done', finished_at = now() WHERE id = ${id} AND status = 'running'`),
    ]);
    const { status } = (await api.call('GET', `${url}/${id}`)).body;
    expect([cancelled.status, status]).toEqual(
      cancelled.status === 200 ? [200, 'cancelled'] : [409, 'done'],
    );
  }
});
