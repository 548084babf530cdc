import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Entity } from '#shared/contract/data/entity.ts';
import type { Run, RunSummary } from '#shared/contract/runs/run.ts';
import type { Workflow } from '#shared/contract/workflows/workflow.ts';
import { call } from '#scripts/seed/api.ts';
import { examples } from '#scripts/seed/index.ts';
import { type ExampleMemory, seed, type SeedResult } from '#scripts/seed.ts';
import { recordExample, readExamples } from '#shared/db/workflows/examples-made.ts';
import { connectDatabase, sql } from '#shared/db/pool.ts';
import { readOwnerAccount } from '#shared/db/people/sign-ins.ts';
import { createDemoData } from '#shared/seed/demo-data.ts';
import { type Service, startService } from '#test/support/served-api.ts';
import { soakDescribe, soakTest } from '#test/support/soak.ts';

const keyed = (ends: string) =>
  examples.flatMap(({ runs }) => runs.filter((run) => run.ends === ends).map(({ key }) => key));

/** The demo data, whose orders the examples read. */
async function createOrders(databaseUrl: string): Promise<void> {
  const db = await connectDatabase(databaseUrl, { maxPoolSize: 1 });
  try {
    await createDemoData(db, (await readOwnerAccount(db))!.workspaceId);
  } finally {
    await db.end();
  }
}

describe('seeding an empty installation', () => {
  let service: Service;
  let result: SeedResult;
  const log: string[] = [];
  const get = async <T>(path: string): Promise<T> => (await call<T>(service, 'GET', path)).body;
  const runOf = (key: string): Promise<Run> => get(`/api/runs/${result.runs[key]}`);

  beforeAll(async () => {
    service = await startService();
    await createOrders(service.engine.databaseUrl);
    result = await seed({ apiUrl: service.apiUrl, log: (text) => log.push(text) });
  }, 60_000);
  afterAll(() => service.close());

  test('logs nothing', () => {
    expect(log).toEqual([]);
  });

  test('publishes every example with its checks, in order', async () => {
    const workflows = await get<Workflow[]>('/api/workflows');
    expect(workflows.map(({ name, status, version }) => [name, status, version])).toEqual(
      examples.map(({ name }) => [name, 'published', 1]),
    );
    for (const example of examples) {
      const workflow = workflows.find(({ name }) => name === example.name)!;
      expect(workflow.id).toBe(result.workflows[example.name]);
      expect(workflow.checks).toEqual(example.checks);
      const { body } = await call(service, 'POST', `/api/workflows/${workflow.id}/validate`);
      expect(body).toEqual({ valid: true, errors: [], warnings: [] });
    }
  });

  test('leaves every run in its documented status', async () => {
    for (const { key, ends } of examples.flatMap(({ runs }) => runs)) {
      const { status } = await runOf(key);
      expect({ key, status }).toEqual({ key, status: ends });
    }
  });

  test('shows a run that waits for a reply, one in the queue behind it, and what starts others', async () => {
    const [waits, queued] = [
      await runOf('example-outreach'),
      await runOf('example-outreach-queued'),
    ];
    expect(waits.waiting).toMatchObject([{ for: 'event', events: ['outreach.replied'] }]);
    expect(queued.queued).toMatchObject({ for: 'concurrency', position: 1, length: 1 });
    const path = `/api/workflows/${result.workflows['Permit outreach']}`;
    expect(await get(`${path}/limits`)).toMatchObject({ concurrency: { limit: 1 }, warnings: [] });
    expect(await get(`${path}/triggers`)).toMatchObject([
      { event: 'intelligence_event.verified', enabled: true, last_run_id: null },
    ]);
    expect(await get<{ workflow_name: string }[]>('/api/queues')).toMatchObject([
      { workflow_name: 'Permit outreach', waiting_count: 1 },
    ]);
  });

  test('passes every check on the runs that succeed', async () => {
    for (const key of keyed('success')) {
      const { evals } = await runOf(key);
      const failed = evals!.results.filter((result) => !result.passed);
      expect({ key, failed }).toEqual({ key, failed: [] });
    }
  });

  test('returns the waiting run and its approval URL', () => {
    expect(result.gateRunId).toBe(result.runs['example-triage-order']);
    expect(result.approveUrl).toBe(`${service.apiUrl}/api/runs/${result.gateRunId}/approve`);
    expect(result.approveBody).toEqual({
      approved: true,
      digest: expect.stringMatching(/^sha256:/),
    });
  });

  test('shows the refund and the corrections with their exact arguments', async () => {
    const refund = await runOf('example-triage-order');
    expect(refund.pending_gates.map(({ kind, tool_call }) => [kind, tool_call])).toEqual([
      [
        'tool_call',
        expect.objectContaining({
          tool: 'entity_upsert',
          digest: result.approveBody!.digest,
          arguments: expect.objectContaining({
            entity_type: 'refund',
            external_key: 'refund-A-1042',
            attributes: {
              order: 'A-1042',
              amount_usd: 240,
              reason: 'The order was paid twice',
            },
          }),
        }),
      ],
    ]);
    const [order] = refund.steps
      .filter(({ step_key: key }) => key === 'refund/1.1')
      .map(({ output }) => (output as { data: Entity[] }).data);
    expect(order).toMatchObject([
      { canonical_name: 'Order A-1042', attributes: { amount_usd: 240, payments: 2 } },
    ]);
    const corrections = (await runOf('example-steward')).pending_gates;
    expect(corrections.map(({ tool_call }) => tool_call!.arguments)).toMatchObject([
      { external_key: 'A-1038', geography: { country: 'US' } },
      { external_key: 'A-1040', attributes: { status: 'paid' } },
    ]);
  });

  test('shows the cost of each turn of the research, which ends at its limit', async () => {
    const { steps, cost_usd: cost } = await runOf('example-budgeted-research');
    const turns = steps.filter(({ step_key: key }) => /^research\/\d+$/.test(key));
    expect(turns.map(({ cost_usd }) => cost_usd)).toEqual([0.0021, 0.0034, 0.0042, 0.0027]);
    expect(cost).toBe(0.0124);
    const found = steps.flatMap(({ step_key: key, output }) =>
      key === 'research/1.2' ? (output as { data: Entity[] }).data : [],
    );
    expect(found).toHaveLength(5);
    expect(found[0]).toMatchObject({ entity_type: 'project', geography: { city: 'Austin' } });
  });

  test('creates nothing twice when repeated, even concurrently', async () => {
    const again = await Promise.all(
      [1, 2].map(() => seed({ apiUrl: service.apiUrl, log: (text) => log.push(text) })),
    );
    expect(again).toEqual([result, result]);
    expect(log).toEqual([]);
    expect(await get<Workflow[]>('/api/workflows')).toHaveLength(examples.length);
    const { runs } = await get<{ runs: RunSummary[] }>('/api/runs');
    expect(runs.map(({ id }) => id).sort()).toEqual(Object.values(result.runs).sort());
  });

  test('leaves changed examples alone', async () => {
    const id = result.workflows['Launch kit']!;
    const path = `/api/workflows/${id}`;
    await call(service, 'PUT', path, { body: { description: 'ours now' } });
    await call(service, 'PUT', `${path}/checks`, { body: [] });
    await seed({ apiUrl: service.apiUrl });
    expect(await get(path)).toMatchObject({ description: 'ours now', checks: [], version: 1 });
  });

  soakTest('completes an interrupted start', async () => {
    const id = result.workflows['Research loop']!;
    await call(service, 'DELETE', `/api/workflows/${id}`);
    // The state after a start that ended right after its first request.
    const { name, graph } = examples.find((example) => example.name === 'Research loop')!;
    await call(service, 'POST', '/api/workflows', { body: { name, graph } });
    const repaired = await seed({ apiUrl: service.apiUrl });
    const workflow = await get<Workflow>(`/api/workflows/${repaired.workflows[name]}`);
    expect(workflow).toMatchObject({ status: 'published', stats: { total: 1, success: 1 } });
    expect(workflow.checks).not.toEqual([]);
    expect(await get<Workflow[]>('/api/workflows')).toHaveLength(examples.length);
  });

  test('creates a failed run that resume completes', async () => {
    const before = await runOf('example-invoices');
    expect(before.resumable).toBe(true);
    await call(service, 'POST', `/api/runs/${before.id}/resume`);
    let run = before;
    for (const end = Date.now() + 10_000; run.status !== 'success' && Date.now() < end;) {
      run = await runOf('example-invoices');
    }
    expect(run.output).toEqual({ receipt: 'Accounting took 2026-10 as ACC-2026-10' });
    expect(run.steps.map(({ step_key, attempt }) => [step_key, attempt])).toEqual([
      ['total', 1],
      ['summary', 1],
      ['upload', 2],
      ['receipt', 1],
    ]);
    expect(run.steps.slice(0, 2)).toEqual(before.steps.slice(0, 2));
  });

  test('writes the corrections and the refund that are approved, and then returns no waiting run', async () => {
    const recordOf = async (type: string, name: string): Promise<Entity | undefined> => {
      const { entities } = await get<{ entities: Entity[] }>(
        `/api/data/entities?entity_type=${type}&limit=100`,
      );
      return entities.find(({ canonical_name }) => canonical_name === name);
    };
    let next: SeedResult = result;
    expect(next.gateRunId).toBe(result.runs['example-triage-order']);
    expect(await recordOf('refund', 'Refund of order A-1042')).toBeUndefined();
    const before = await recordOf('order', 'Order A-1038');
    for (let gates = 0; next.approveUrl !== undefined && gates < 5; gates += 1) {
      await call(service, 'POST', next.approveUrl, { body: next.approveBody });
      next = await seed({ apiUrl: service.apiUrl });
    }
    expect(next.gateRunId).toBeUndefined();
    expect(next.runs).toEqual({ ...result.runs, 'example-research': expect.any(String) });
    const run = await runOf('example-triage-order');
    expect(run.output).toEqual({ answer: expect.stringContaining('We return 240 dollars') });
    expect(run.evals).toMatchObject({ passed: 4, total: 4 });
    expect(await recordOf('refund', 'Refund of order A-1042')).toMatchObject({
      attributes: { order: 'A-1042', amount_usd: 240 },
      is_demo: true,
    });
    // Only the country was missing.
    expect(await recordOf('order', 'Order A-1038')).toMatchObject({
      attributes: before!.attributes,
      geography: { ...before!.geography, country: 'US' },
    });
    expect(await recordOf('order', 'Order A-1040')).toMatchObject({
      attributes: { status: 'paid' },
      version: 2,
    });
  });
});

soakDescribe('seeding again later', () => {
  test('does not repeat runs that retention deleted, and counts nothing', async () => {
    const service = await startService();
    const db = await connectDatabase(service.engine.databaseUrl, { maxPoolSize: 2 });
    try {
      const { workspaceId } = (await readOwnerAccount(db))!;
      const memory: ExampleMemory = {
        read: () => readExamples(db, workspaceId),
        note: (key, id) => recordExample(db, { workspaceId, key, id }),
      };
      const start = () => seed({ apiUrl: service.apiUrl, memory });
      const used = async () =>
        (await call<{ runs_used: number }>(service, 'GET', '/api/usage')).body.runs_used;
      const first = await start();
      const runs = await used();
      expect(runs).toBe(Object.keys(first.runs).length);
      const again = await start();
      expect(again).toEqual(first);
      await db.query(sql.unsafe`DELETE FROM runs`);
      expect(await start()).toEqual({ workflows: first.workflows, runs: {} });
      // An older release has recorded no examples.
      await db.query(sql.unsafe`DELETE FROM examples_made`);
      await db.query(sql.unsafe`UPDATE workflows SET created_at = now() - interval '1 day'`);
      expect(await start()).toEqual({ workflows: first.workflows, runs: {} });
      expect(await used()).toBe(runs);
      // A deleted example is created again, with its runs.
      await call(service, 'DELETE', `/api/workflows/${first.workflows['Invoice export']}`);
      expect(Object.keys((await start()).runs)).toEqual(['example-invoices']);
    } finally {
      await db.end();
      await service.close();
    }
  }, 60_000);
});

soakDescribe('seeding beside workflows of the same names', () => {
  let service: Service;
  beforeAll(async () => {
    service = await startService();
  });
  afterAll(() => service.close());

  test('neither changes nor runs them, and creates the other examples', async () => {
    const graph = { nodes: [], edges: [] };
    const post = async (path: string, body?: unknown): Promise<Workflow> =>
      (await call<Workflow>(service, 'POST', `/api/workflows${path}`, { body })).body;
    await post('', { name: 'Support triage', graph });
    const { id } = await post('', { name: 'Launch kit', graph });
    await post(`/${id}/publish`);
    const list = async (): Promise<Workflow[]> =>
      (await call<Workflow[]>(service, 'GET', '/api/workflows')).body;
    const own = await list();
    const log: string[] = [];
    const result = await seed({ apiUrl: service.apiUrl, log: (text) => log.push(text) });
    expect((await list()).slice(-2)).toEqual(own);
    expect(own.map(({ stats }) => stats.total)).toEqual([0, 0]);
    expect(Object.keys(result.workflows).sort()).toEqual([
      'Budgeted research',
      'Data steward',
      'Invoice export',
      'Permit outreach',
      'Research loop',
    ]);
    expect(log).toEqual([]);
  });
});

soakDescribe('a start that cannot create the examples', () => {
  test('continues and logs why', async () => {
    const log: string[] = [];
    const result = await seed({ apiUrl: 'http://127.0.0.1:1', log: (text) => log.push(text) });
    expect(result).toEqual({ workflows: {}, runs: {} });
    expect(log).toEqual([expect.stringMatching(/^The examples could not be written: .+/)]);
  });

  test('continues if requests need credentials', async () => {
    const service = await startService({ AUTH_MODE: 'required' });
    try {
      const log: string[] = [];
      await seed({ apiUrl: service.apiUrl, log: (text) => log.push(text) });
      expect(log).toEqual([
        'The examples could not be written: requests need credentials (AUTH_MODE=required)',
      ]);
    } finally {
      await service.close();
    }
  });
});
