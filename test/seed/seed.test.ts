import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Run, RunSummary } from '../../shared/contract/run.ts';
import type { Workflow } from '../../shared/contract/workflow.ts';
import { call } from '../../scripts/seed/api.ts';
import { examples } from '../../scripts/seed/index.ts';
import { type ExampleMemory, seed, type SeedResult } from '../../scripts/seed.ts';
import { recordExample, readExamples } from '../../shared/db/workflows/examples-made.ts';
import { connectDatabase, sql } from '../../shared/db/pool.ts';
import { readOwnerAccount } from '../../shared/db/people/sign-ins.ts';
import { type Installation, startInstallation } from './installation.ts';

const keyed = (ends: string) =>
  examples.flatMap(({ runs }) => runs.filter((run) => run.ends === ends).map(({ key }) => key));

describe('seeding an empty installation', () => {
  let service: Installation;
  let result: SeedResult;
  const log: string[] = [];
  const get = async <T>(path: string): Promise<T> => (await call<T>(service, 'GET', path)).body;
  const runOf = (key: string): Promise<Run> => get(`/api/runs/${result.runs[key]}`);

  beforeAll(async () => {
    service = await startInstallation();
    result = await seed({ apiUrl: service.apiUrl, log: (text) => log.push(text) });
  });
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

  test('passes every check on the runs that succeed', async () => {
    for (const key of keyed('success')) {
      const { evals } = await runOf(key);
      const failed = evals!.results.filter((result) => !result.passed);
      expect({ key, failed }).toEqual({ key, failed: [] });
    }
  });

  test('returns the waiting run and its approval URL', () => {
    expect(result.gateRunId).toBe(result.runs['example-triage-refund']);
    expect(result.approveUrl).toBe(`${service.apiUrl}/api/runs/${result.gateRunId}/approve`);
  });

  test('creates nothing twice when repeated, also concurrently', async () => {
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

  test('completes an interrupted start', async () => {
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

  test('returns no waiting run after its approval', async () => {
    await call(service, 'POST', `/api/runs/${result.gateRunId}/approve`);
    const after = await seed({ apiUrl: service.apiUrl });
    expect(after.gateRunId).toBeUndefined();
    expect(after.runs).toEqual({ ...result.runs, 'example-research': expect.any(String) });
    const run = await runOf('example-triage-refund');
    expect(run.output).toEqual({ answer: expect.stringContaining('We return 240 dollars') });
  });
});

describe('seeding again later', () => {
  test('does not repeat runs that retention deleted, and counts nothing', async () => {
    const service = await startInstallation();
    const db = await connectDatabase(service.databaseUrl, { maxPoolSize: 2 });
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

describe('seeding beside workflows of the same names', () => {
  let service: Installation;
  beforeAll(async () => {
    service = await startInstallation();
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
    expect(Object.keys(result.workflows).sort()).toEqual(['Invoice export', 'Research loop']);
    expect(log).toEqual([]);
  });
});

describe('a start that cannot create the examples', () => {
  test('continues and logs why', async () => {
    const log: string[] = [];
    const result = await seed({ apiUrl: 'http://127.0.0.1:1', log: (text) => log.push(text) });
    expect(result).toEqual({ workflows: {}, runs: {} });
    expect(log).toEqual([expect.stringMatching(/^The examples could not be written: .+/)]);
  });

  test('continues if requests need credentials', async () => {
    const service = await startInstallation({ AUTH_MODE: 'required' });
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
