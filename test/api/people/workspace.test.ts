import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sealOnce } from '#shared/operations/bookkeeping.ts';
import { sql } from '#shared/db/pool.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { oneStep, useTestApi } from '#test/api/test-api.ts';

const api = useTestApi();

const log = createLogger({ name: 'test', level: 'silent' });
const newest = async (n = 1) => (await api.call('GET', `/api/audit?limit=${n}`)).body.logs;
const total = async (): Promise<number> => (await api.call('GET', '/api/audit')).body.total;

describe('the workspace', () => {
  test('returns its name, plan and member count', async () => {
    const { status, body } = await api.call('GET', '/api/workspace');
    expect([status, body]).toEqual([
      200,
      {
        id: api.workspaceId,
        name: 'Default',
        plan: 'free',
        member_count: 1,
        has_examples: false,
        invitations_by_email: false,
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        etag: expect.any(String),
      },
    ]);
  });

  test('is renamed, with one audit entry', async () => {
    const before = await total();
    for (const name of [' Support ', 'Support']) {
      const { status, body } = await api.call('PUT', '/api/workspace', { name });
      expect([status, body.name]).toEqual([200, 'Support']);
    }
    expect(await total()).toBe(before + 1);
    expect(await newest()).toEqual([
      {
        id: expect.stringMatching(/^aud_/),
        action: 'update',
        actor_id: expect.stringMatching(/^mem_/),
        actor_name: 'Owner',
        target_type: 'workspace',
        target_id: api.workspaceId,
        target_name: 'Support',
        details: { changed: ['name'], name: { from: 'Default', to: 'Support' } },
        created_at: expect.stringMatching(/Z$/),
      },
    ]);
  });
});

describe('the plan', () => {
  test.each(['PUT', 'POST'])(
    'is changed by %s immediately, with one audit entry',
    async (method) => {
      await api.call('PUT', '/api/workspace/plan', { plan: 'free' });
      const before = await total();
      for (const plan of ['pro', 'pro']) {
        const { status, body } = await api.call(method, '/api/workspace/plan', { plan });
        expect([status, Object.keys(body), body.plan]).toEqual([
          200,
          [
            'id',
            'name',
            'plan',
            'member_count',
            'has_examples',
            'invitations_by_email',
            'created_at',
            'etag',
          ],
          'pro',
        ]);
      }
      expect((await api.call('GET', '/api/usage')).body).toMatchObject({
        plan: 'pro',
        runs_limit: 200_000,
      });
      expect(await total()).toBe(before + 1);
      expect(await newest()).toEqual([
        expect.objectContaining({
          action: 'plan_change',
          target_type: 'workspace',
          details: { from: 'free', to: 'pro' },
        }),
      ]);
    },
  );

  test('leaves consistent audit entries when changed concurrently', async () => {
    const plans = ['free', 'starter', 'pro', 'enterprise'];
    for (let round = 0; round < 10; round += 1) {
      const before = await total();
      const from = (await api.call('GET', '/api/workspace')).body.plan;
      await Promise.all(
        plans.map(async (plan) => api.call('PUT', '/api/workspace/plan', { plan })),
      );
      const entries = await newest((await total()) - before);
      let plan = from;
      for (const { details } of entries.toReversed()) {
        expect(details.from).toBe(plan);
        plan = details.to;
      }
      expect((await api.call('GET', '/api/workspace')).body.plan).toBe(plan);
    }
  });
});

describe('usage and overview', () => {
  test('return exactly their fields', async () => {
    const usage = await api.call('GET', '/api/usage');
    expect([usage.status, Object.keys(usage.body)]).toEqual([
      200,
      ['plan', 'runs_used', 'runs_limit', 'cost_usd', 'period_start', 'period_end'],
    ]);
    const overview = await api.call('GET', '/api/metrics/overview');
    expect([overview.status, Object.keys(overview.body)]).toEqual([
      200,
      [
        'total_runs',
        'success_rate',
        'total_cost_usd',
        'active_workflows',
        'runs_by_day',
        'eval_pass_rate',
        'evaluated_runs',
      ],
    ]);
    expect(overview.body.runs_by_day).toHaveLength(14);
    expect(overview.body.runs_by_day.at(-1).date).toBe(new Date().toISOString().slice(0, 10));
  });
});

test('a run is in the usage breakdown once triggered, also for concurrent reads', async () => {
  const workflow = await api.call('POST', '/api/workflows', { name: 'Answer', graph: oneStep });
  const { id } = workflow.body;
  const read = () => api.call('GET', '/api/usage/breakdown');
  for (let round = 1; round <= 10; round += 1) {
    const early = read();
    await api.call('POST', `/api/workflows/${id}/runs`, { ticket: 'x' });
    for (const { body } of await Promise.all(Array.from({ length: 8 }, read))) {
      expect(body.by_workflow).toEqual([
        { workflow_id: id, name: 'Answer', runs: round, cost_usd: 0, unpriced_steps: 0 },
      ]);
    }
    expect((await early).status).toBe(200);
  }
});

describe('the audit list', () => {
  test('is paged newest first, 50 entries by default', async () => {
    for (let n = 0; n < 60; n += 1) {
      await api.call('PUT', '/api/workspace', { name: `Name ${n}` });
    }
    const all = (await api.call('GET', '/api/audit?limit=200')).body;
    expect(all.logs.length).toBe(all.total);
    const names = all.logs.slice(0, 60).map((entry: any) => entry.details.name.to);
    expect(names).toEqual(Array.from({ length: 60 }, (_, n) => `Name ${59 - n}`));
    expect((await api.call('GET', '/api/audit')).body.logs).toEqual(all.logs.slice(0, 50));
    const page = await api.call('GET', '/api/audit?limit=7&offset=11');
    expect(page.body).toEqual({ logs: all.logs.slice(11, 18), total: all.total });
    const beyond = await api.call('GET', `/api/audit?offset=${all.total}`);
    expect(beyond.body).toEqual({ logs: [], total: all.total });
  });

  test('has the correct total while entries are written and sealed', async () => {
    const counted = sql.type(z.object({ n: z.number() }))`SELECT count(*) AS n FROM audit_log`;
    let writing = true;
    const seal = async () => {
      while (writing) await sealOnce({ db: api.db, log });
    };
    const sealing = seal();
    for (let n = 0; n < 100; n += 1) {
      await api.call('PUT', '/api/workspace', { name: `Other ${n}` });
      expect(await total()).toBe(await api.db.oneFirst(counted));
    }
    writing = false;
    await sealing;
    expect(await total()).toBe(await api.db.oneFirst(counted));
  });
});

describe('audit log verification', () => {
  test('passes, also concurrently, and detects a changed entry', async () => {
    while (await sealOnce({ db: api.db, log }));
    const entries = await total();
    const answers = await Promise.all(
      Array.from({ length: 5 }, async () => api.call('GET', '/api/audit/verify')),
    );
    for (const { status, body } of answers) {
      expect([status, body]).toEqual([
        200,
        {
          valid: true,
          sealed: entries,
          unsealed: 0,
          head: { position: entries, hash: expect.stringMatching(/^[0-9a-f]{64}$/) },
          tool_calls: { decisions: 0, made: 0, problems: [] },
        },
      ]);
    }
    const [{ id }] = await newest();
    await api.db.query(sql.unsafe`ALTER TABLE audit_log DISABLE TRIGGER ALL`);
    await api.db.query(sql.unsafe`UPDATE audit_log SET actor_name = NULL WHERE id = ${id}`);
    await api.db.query(sql.unsafe`ALTER TABLE audit_log ENABLE TRIGGER ALL`);
    expect((await api.call('GET', '/api/audit/verify')).body).toMatchObject({
      valid: false,
      first_problem: { position: entries, audit_id: id },
    });
  });
});
