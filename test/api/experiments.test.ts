import { beforeAll, describe, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { workspaceLimits } from '#shared/limits.ts';
import { echo, edge, eventually } from '#test/support/engine.ts';
import { pastRuns, redraft, tried } from '#test/support/experiments.ts';
import { useEngineApi } from '#test/api/engine-api.ts';

const { engine, call } = useEngineApi();
let workflowId: string;
let runIds: string[];
beforeAll(async () => {
  const graph = { nodes: [echo('answer', 'n')], edges: [] };
  const inputs = Array.from({ length: 7 }, (_, n) => ({ n, m: n > 3 ? n * n : n }));
  ({ workflowId, runIds } = await pastRuns(engine, graph, inputs, [
    { name: '=small', type: 'expression', value: 'answer < 5' },
  ] as never));
});

const startAt = (id: string, payload: object) =>
  call('POST', `/api/workflows/${id}/experiments`, payload);

describe('the experiments of a workflow', () => {
  test('are started, read page by page, listed and exported', async () => {
    await redraft(engine, workflowId, { nodes: [echo('answer', 'm')], edges: [] });
    const started = await startAt(workflowId, { candidate: 'draft', runs: { last: 50 } });
    expect(started).toMatchObject({ status: 202, body: { status: 'running' } });
    const url = `/api/experiments/${started.body.id}`;
    expect(started.headers['location']).toBe(url);
    await eventually(async () => (await call('GET', url)).body.status === 'done', 30_000);

    const whole = (await call('GET', url)).body;
    expect(whole).toMatchObject({
      ...{ workflow_id: workflowId, candidate: 'draft', next_cursor: null },
      summary: {
        ...{ equal: 4, changed: 3 },
        checks: { won: 0, lost: 1, total: 1, broken: [{ name: '=small', runs: 1 }] },
      },
    });
    const { body: worst } = await call('GET', `/api/runs/${runIds[4]}`);
    expect(whole.runs[0].input).toBe(JSON.stringify(worst.input));
    const order = whole.runs.map((run: { run_id: string }) => run.run_id);
    expect(order).toEqual([4, 6, 5, 3, 2, 1, 0].map((n) => runIds[n]));

    const paged: string[] = [];
    for (let cursor = ''; ;) {
      const { body } = await call('GET', `${url}?limit=3${cursor}`);
      paged.push(...body.runs.map((run: { run_id: string }) => run.run_id));
      if (body.next_cursor === null) break;
      cursor = `&cursor=${body.next_cursor}`;
    }
    expect(paged).toEqual(order);
    const changed = (await call('GET', `${url}?outcome=changed`)).body;
    expect(changed.runs).toHaveLength(3);

    const csv = await call('GET', `${url}?format=csv`);
    expect(csv.headers['content-type']).toBe('text/csv; charset=utf-8');
    const lines = csv.text.trimEnd().split('\r\n');
    expect(lines).toHaveLength(8);
    expect(lines[0]).toMatch(/^\ufeffrun_id,rehearsal_run_id,outcome/);
    expect(csv.text.lastIndexOf('\ufeff')).toBe(0);
    // A spreadsheet must not read the name of a check as a formula.
    expect(lines[1]).toContain(",'=small,");

    const other = await startAt(workflowId, { candidate: { version: 1 }, runs: [runIds[0]] });
    const listed = (await call('GET', `/api/workflows/${workflowId}/experiments?limit=1`)).body;
    expect(listed.experiments.map(({ id }: { id: string }) => id)).toEqual([other.body.id]);
    const rest = `/api/workflows/${workflowId}/experiments?cursor=${listed.next_cursor}`;
    expect((await call('GET', rest)).body).toMatchObject({
      experiments: [{ id: started.body.id, progress: { done: 7, total: 7 } }],
      next_cursor: null,
    });
  });

  test('are refused if they decide a gate that the candidate does not have', async () => {
    const gate = { id: 'ok', kind: 'human_gate', prompt: 'Go on?' } as never;
    const graph = { nodes: [gate, echo('answer', 'm')], edges: [edge('ok', 'answer')] };
    const answer = { nodes: [echo('answer', 'n')], edges: [] };
    const lab = await pastRuns(engine, answer, [{ n: 1, m: 2 }]);
    await redraft(engine, lab.workflowId, graph);
    const request = { candidate: 'draft', runs: { last: 50 } };
    const approved = { approved: true };
    const count = async () =>
      (await call('GET', `/api/workflows/${lab.workflowId}/experiments`)).body.experiments.length;
    const before = await count();
    expect(
      await startAt(lab.workflowId, { ...request, decisions: { okay: approved } }),
    ).toMatchObject({
      status: 422,
      body: {
        detail: "decisions: 'okay' is no gate of this rehearsal: name 'ok', or a step key of one",
      },
    });
    const none = { ...request, candidate: { version: 1 }, decisions: { ok: approved } };
    expect(await startAt(lab.workflowId, none)).toMatchObject({
      status: 422,
      body: { detail: expect.stringContaining('there is no gate to decide') },
    });
    expect(await count()).toBe(before);
    const fitting = await startAt(lab.workflowId, { ...request, decisions: { ok: approved } });
    expect(fitting.status).toBe(202);
    const url = `/api/experiments/${fitting.body.id}`;
    await eventually(async () => (await call('GET', url)).body.status === 'done', 30_000);
  });

  test('leave audit entries', async () => {
    const { body } = await startAt(workflowId, { candidate: { version: 1 }, runs: { last: 1 } });
    const { logs } = (await call('GET', '/api/audit?action=experiment')).body;
    expect(logs[0]).toMatchObject({
      ...{ target_type: 'workflow', target_id: workflowId },
      details: { experiment_id: body.id, candidate: { version: 1 }, runs: 1 },
    });
  });

  test('do not count as real runs: they use no quota, and are not runs of an experiment themselves', async () => {
    const usage = async () => (await call('GET', '/api/usage')).body;
    const before = await usage();
    const { summary } = await tried(engine, workflowId, { candidate: { version: 1 } });
    expect(summary.equal).toBe(7);
    expect(await usage()).toEqual(before);
    expect((await tried(engine, workflowId, { candidate: { version: 1 } })).summary.equal).toBe(7);
  });
});

describe('intentional mistakes', () => {
  const version = { candidate: { version: 1 } };
  const cases: [string, () => Promise<[string, object]> | [string, object], number, string][] = [
    [
      'an unknown workflow',
      () => ['wf_none', { ...version, runs: { last: 1 } }],
      404,
      'Workflow not found',
    ],
    [
      'an unknown version',
      () => [workflowId, { candidate: { version: 9 }, runs: { last: 1 } }],
      422,
      'no version 9',
    ],
    [
      'a candidate that is none',
      () => [workflowId, { candidate: 'current', runs: { last: 1 } }],
      400,
      "'draft' or",
    ],
    [
      'no draft',
      async () => [
        await engine.define({ nodes: [echo('a')], edges: [] }),
        { candidate: 'draft', runs: { last: 1 } },
      ],
      404,
      'Draft not found: save one with PUT /api/workflows/',
    ],
    [
      'a draft that cannot run',
      async () => {
        const id = await engine.define({ nodes: [echo('a')], edges: [] });
        await redraft(engine, id, { nodes: [echo('a', '1 +')], edges: [] });
        return [id, { candidate: 'draft', runs: { last: 1 } }];
      },
      400,
      'Workflow graph invalid',
    ],
    [
      'a workflow without runs',
      async () => [
        await engine.define({ nodes: [echo('a')], edges: [] }),
        { ...version, runs: { last: 1 } },
      ],
      422,
      'No run fits',
    ],
    [
      'no run that fits',
      () => [workflowId, { ...version, runs: { last: 5, status: 'failed' } }],
      422,
      'No run fits',
    ],
    [
      'a run of no one',
      () => [workflowId, { ...version, runs: ['run_none'] }],
      404,
      'Run not found: run_none',
    ],
    [
      'a run of another workflow',
      async () => {
        const other = await pastRuns(engine, { nodes: [echo('a')], edges: [] }, [{}]);
        return [workflowId, { ...version, runs: [runIds[0], other.runIds[0]] }];
      },
      422,
      'it is of another workflow; name runs of this one',
    ],
    [
      'a rehearsal',
      async () => {
        const { runs } = await tried(engine, workflowId, { ...version, runs: [runIds[0]!] });
        return [workflowId, { ...version, runs: [runs[0]!.rehearsal_run_id] }];
      },
      422,
      'it is a rehearsal itself; name the run that it rehearses',
    ],
    [
      'a run that has not ended',
      async () => {
        const id = await engine.define({
          nodes: [{ id: 'g', kind: 'human_gate', prompt: '?' }],
          edges: [],
        });
        const runId = await engine.trigger(id);
        await engine.until(runId, ['paused']);
        return [id, { ...version, runs: [runId] }];
      },
      422,
      'it is paused; wait until it has ended',
    ],
    [
      'too many runs',
      () => [workflowId, { ...version, runs: { last: 1_001 } }],
      400,
      'runs.last must be at most 1000',
    ],
    [
      'too many ids',
      () => [workflowId, { ...version, runs: Array(1_001).fill('run_x') }],
      400,
      'runs must be at most 1000 runs: make several experiments',
    ],
    ['no runs', () => [workflowId, { ...version, runs: [] }], 400, 'runs must have an item'],
    [
      'a tool with effects',
      () => [workflowId, { ...version, runs: { last: 1 }, allow: ['send_email'] }],
      400,
      'send_email',
    ],
    [
      'a tool of no one',
      () => [workflowId, { ...version, runs: { last: 1 }, allow: ['telepathy'] }],
      400,
      'allow',
    ],
    [
      'another mode',
      () => [workflowId, { ...version, runs: { last: 1 }, mode: 'live' }],
      400,
      'mode',
    ],
    [
      'a budget of nothing',
      () => [workflowId, { ...version, runs: { last: 1 }, budget_usd: 0 }],
      400,
      'budget_usd',
    ],
  ];
  test.each(cases)('%s is refused, with a remedy', async (_what, request, status, detail) => {
    const [id, body] = await request();
    const answer = await startAt(id, body);
    expect([answer.status, answer.body.detail]).toEqual([status, expect.stringContaining(detail)]);
  });

  test.each([
    ['GET', '/api/experiments/job_none'],
    ['POST', '/api/experiments/job_none/cancel'],
  ])('%s of an experiment that does not exist is 404', async (method, url) => {
    expect(await call(method, url)).toMatchObject({
      ...{ status: 404, body: { detail: 'Experiment not found' } },
    });
  });

  test('an experiment beyond the limit is refused until another one has ended', async () => {
    await engine.db.query(sql.unsafe`
      UPDATE background_jobs SET status = 'running', finished_at = NULL
      WHERE id IN (SELECT id FROM background_jobs ORDER BY created_at DESC LIMIT ${workspaceLimits.jobs.atMost}::int)`);
    const answer = await startAt(workflowId, { ...version, runs: { last: 1 } });
    expect([answer.status, answer.body.detail]).toEqual([
      409,
      expect.stringContaining('background jobs at a time; wait until one has ended'),
    ]);
    await engine.db.query(sql.unsafe`
      UPDATE background_jobs SET status = 'done', finished_at = now() WHERE status = 'running'`);
  });
});
