import { z } from 'zod';
import { describe, expect, jest, test } from '@jest/globals';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { sql } from '#shared/db/pool.ts';
import { cancelExperiment } from '#shared/operations/experiments/start.ts';
import { jobs } from '#shared/platform/threads/jobs.ts';
import { chain, edge, eventually, mock, useEngine } from '#test/support/engine.ts';
import { pastRuns, readWhole, redraft, result, start, tried } from '#test/support/experiments.ts';
import { soakTest } from '#test/support/soak.ts';

const engine = useEngine();

/** An agent that repeats its letter, and an answer that is computed. */
const letters = (expression: string, prompt = '{letter}'): GraphInput =>
  chain(
    { id: 'read', kind: 'agent', prompt, mock: { output: 'About {letter}', cost_usd: 0.1 } },
    { id: 'answer', kind: 'tool', tool_name: 'json_transform', params: { expression } },
  );
/** `other` is another answer; text plus `bad` fails where it is a number. */
const inputs = [
  { letter: 'tea', other: 'Nothing at all', bad: 1 },
  { letter: 'oil', other: 'About oil', bad: '' },
  { letter: 'ink', other: 'About ink!!', bad: '' },
];
const says = [
  { name: 'says about', type: 'contains', value: 'About' },
  { name: 'is short', type: 'expression', value: 'len(answer) < 10' },
] as never;

const rehearsals = (id: string) =>
  engine.db.any(sql.type(z.object({ status: z.string(), error: z.string().nullable() }))`
    SELECT status, error FROM runs WHERE experiment_id = ${id} ORDER BY id`);

describe('an experiment', () => {
  test('with nothing changed is equal, costs nothing, and shows the recorded cost', async () => {
    const { workflowId, runIds } = await pastRuns(engine, letters('read'), inputs, says);
    const experiment = await tried(engine, workflowId, { candidate: { version: 1 } });
    expect(experiment).toMatchObject({
      ...{ status: 'done', workflow_id: workflowId, candidate: { version: 1 } },
      ...{ progress: { done: 3, total: 3 }, spent_usd: 0, budget_usd: null, error: null },
      summary: {
        ...{ equal: 3, changed: 0, failed: 0, unrecorded: 0, refused: 0 },
        checks: { won: 0, lost: 0 },
        cost_usd: { base: 0.3, candidate: 0.3, difference: { mean: 0, low: 0, high: 0 } },
      },
    });
    expect(experiment.runs.map(({ run_id }) => run_id)).toEqual([...runIds].reverse());
    for (const run of experiment.runs) {
      expect(run).toMatchObject({
        ...{ outcome: 'equal', reason: null, checks: { won: [], lost: [] } },
        ...{ diff: { differences: [], more: false }, cost_usd: { base: 0.1, candidate: 0.1 } },
      });
      const rehearsal = await engine.run(run.rehearsal_run_id ?? '');
      expect(rehearsal).toMatchObject({ mode: 'recorded', forked_from: run.run_id, cost_usd: 0 });
    }
  });

  test('shows changed outputs, and checks won and lost, worst first', async () => {
    const { workflowId, runIds } = await pastRuns(engine, letters('read'), inputs, says);
    await redraft(engine, workflowId, letters('other'));
    const { summary, runs } = await tried(engine, workflowId);
    expect(summary).toMatchObject({ equal: 1, changed: 2, failed: 0, checks: { won: 0, lost: 3 } });
    const [tea, oil, ink] = runIds;
    expect(runs.map(({ run_id, outcome, checks }) => [run_id, outcome, checks.lost])).toEqual([
      [tea, 'changed', ['says about', 'is short']],
      [ink, 'changed', ['is short']],
      [oil, 'equal', []],
    ]);
    expect(runs[0]?.diff?.differences).toEqual([
      { path: 'answer', change: 'changed', from: 'About tea', to: 'Nothing at all' },
    ]);
  });

  test('executes changed code at the time and with the seed of each run, and keeps the result of unchanged code', async () => {
    const code = (value: string) =>
      chain({ id: 'c', kind: 'code', source: `export default ({ letter }) => ${value};` });
    const value = '[letter, Date.now(), Math.random()]';
    const { workflowId } = await pastRuns(engine, code(value), inputs);
    const same = await tried(engine, workflowId, { candidate: { version: 1 } });
    expect(same.summary).toMatchObject({ equal: 3, changed: 0 });
    await redraft(engine, workflowId, code(`letter === 'tea' ? 0 : ${value}`));
    const { summary, runs, spent_usd } = await tried(engine, workflowId);
    expect(summary).toMatchObject({ equal: 2, changed: 1, unrecorded: 0, failed: 0 });
    expect(runs[0]?.diff?.differences).toMatchObject([{ path: 'c', change: 'changed', to: 0 }]);
    expect(spent_usd).toBe(0);
  });

  soakTest('tries the draft as it was when it began', async () => {
    const { workflowId } = await pastRuns(engine, letters('read'), inputs);
    await redraft(engine, workflowId, letters("read + '!'"));
    const id = await start(engine, workflowId);
    await engine.db.query(sql.unsafe`
      UPDATE workflow_drafts SET graph = ${JSON.stringify(letters('read'))}::json WHERE workflow_id = ${workflowId}`);
    const { summary, candidate } = await result(engine, id);
    expect(candidate).toBe('draft');
    expect(summary).toMatchObject({ changed: 3, equal: 0 });
  });

  test('shows failures, and steps without a record', async () => {
    const { workflowId } = await pastRuns(engine, letters('read'), inputs, says);
    await redraft(engine, workflowId, letters('read + bad'));
    const broken = await tried(engine, workflowId);
    expect(broken.summary).toMatchObject({ failed: 1, equal: 2, checks: { lost: 2 } });
    expect(broken.runs[0]).toMatchObject({ outcome: 'failed', diff: null });
    expect(broken.runs[0]?.reason).toContain('answer');

    const other = await pastRuns(engine, letters('read'), inputs, says);
    await redraft(engine, other.workflowId, letters('read', 'Read: {letter}'));
    const unasked = await tried(engine, other.workflowId);
    expect(unasked.summary).toMatchObject({ unrecorded: 3, checks: { won: 0, lost: 0 } });
    const asked = await tried(engine, other.workflowId, { allow: ['agent'] });
    expect(asked).toMatchObject({
      summary: { equal: 3, cost_usd: { base: 0.3, candidate: 0.3 } },
      ...{ spent_usd: 0.3, allow: ['agent'] },
    });
  });

  test('has no result for a gate without a decision, and its rehearsal does not stay open', async () => {
    const { workflowId } = await pastRuns(engine, letters('read'), inputs.slice(0, 2));
    const gated = letters('read');
    await redraft(engine, workflowId, {
      nodes: [...(gated.nodes ?? []), { id: 'gate', kind: 'human_gate', prompt: 'Sure?' }],
      edges: [edge('read', 'gate'), edge('gate', 'answer')],
    });
    const experiment = await tried(engine, workflowId);
    expect(experiment.summary).toMatchObject({ unrecorded: 2 });
    expect(experiment.runs[0]?.reason).toContain('gate');
    const cancelled = { status: 'failed', error: 'Cancelled by the experiment' };
    expect(await rehearsals(experiment.id)).toMatchObject([cancelled, cancelled]);
    const decided = await tried(engine, workflowId, { decisions: { gate: { approved: true } } });
    expect(decided.summary).toMatchObject({ equal: 2, unrecorded: 0 });
  });

  soakTest('looks for what stands before its nodes once, and not for each run', async () => {
    const { workflowId } = await pastRuns(engine, letters('read'), inputs);
    await redraft(engine, workflowId, letters('other'));
    const [guarded, less] = [jest.spyOn(jobs, 'guardedNodes'), jest.spyOn(jobs, 'weakenedWrites')];
    try {
      expect((await tried(engine, workflowId)).runs).toHaveLength(3);
      // All three are started in the first page.
      expect([guarded.mock.calls.length, less.mock.calls.length]).toEqual([1, 1]);
    } finally {
      guarded.mockRestore();
      less.mockRestore();
    }
  });

  soakTest('takes the runs that fit: status, time, ids, and no rehearsals', async () => {
    const graph = letters('read + bad');
    const { workflowId, runIds } = await pastRuns(engine, graph, inputs);
    const candidate = { version: 1 };
    const idsOf = async (runs: Parameters<typeof tried>[2]) =>
      (await tried(engine, workflowId, { candidate, ...runs })).runs.map(({ run_id }) => run_id);
    const [tea, oil, ink] = runIds;
    expect(await idsOf({})).toEqual([ink, oil, tea]);
    expect(await idsOf({ runs: { last: 2 } })).toEqual([ink, oil]);
    expect(await idsOf({ runs: { last: 9, status: 'failed' } })).toEqual([tea]);
    const { created_at: since } = await engine.run(ink!);
    expect(await idsOf({ runs: { last: 9, since } })).toEqual([ink]);
    expect(await idsOf({ runs: [tea!, ink!, tea!] })).toEqual([tea, ink]);
  });

  test('counts a run whose input the candidate refuses as failed', async () => {
    const { workflowId } = await pastRuns(engine, letters('read'), inputs.slice(0, 1), says);
    await redraft(engine, workflowId, letters('read'));
    await engine.db.query(sql.unsafe`
      UPDATE workflow_drafts SET input_schema = '{"type": "object", "required": ["tone"]}' WHERE workflow_id = ${workflowId}`);
    const { summary, runs } = await tried(engine, workflowId);
    expect(summary).toMatchObject({ failed: 1, checks: { lost: 2 } });
    expect(runs[0]).toMatchObject({ rehearsal_run_id: null, cost_usd: null });
    expect(runs[0]?.reason).toContain('tone');
  });

  soakTest('can be cancelled, with its open rehearsals', async () => {
    const patient = (delay_ms: number): GraphInput =>
      chain(mock('read', { output: 'x', cost_usd: 0.1, delay_ms }));
    const numbers = Array.from({ length: 12 }, (_, n) => ({ n }));
    const { workflowId } = await pastRuns(engine, patient(0), numbers);
    await redraft(engine, workflowId, patient(30_000));
    const id = await start(engine, workflowId, { allow: ['agent'] });
    await eventually(async () => (await rehearsals(id)).length === 10, 20_000);
    await cancelExperiment(engine.deps, engine.actor, id);
    expect(await readWhole(engine, id)).toMatchObject({ status: 'cancelled', runs: [] });
    await expect(cancelExperiment(engine.deps, engine.actor, id)).rejects.toThrow('cancelled');
    await eventually(
      async () => (await rehearsals(id)).every(({ status }) => status === 'failed'),
      20_000,
    );
    expect((await rehearsals(id)).length).toBe(10);
  });
});

const asking = (prompt: string, cost_usd: number) =>
  chain(mock('read', { output: '{n}', cost_usd, delay_ms: 20 }, { prompt }));
const numbers = (length: number) => Array.from({ length }, (_, n) => ({ n }));

soakTest('the budget of an experiment is spent, and not exceeded', 120_000, async () => {
  const { workflowId } = await pastRuns(engine, asking('{n}', 0.01), numbers(12));
  await redraft(engine, workflowId, asking('Read {n}', 0.1));
  for (const budget of [0.05, 0.1, 0.25, 0.35, 0.99, 1.2]) {
    const experiment = await tried(engine, workflowId, { allow: ['agent'], budget_usd: budget });
    const affordable = Math.floor(budget * 10 + 1e-9);
    expect(experiment).toMatchObject({
      ...{ status: 'done', budget_usd: budget },
      summary: { equal: affordable, refused: 12 - affordable },
    });
    expect(experiment.spent_usd).toBeCloseTo(affordable / 10, 6);
    expect(experiment.spent_usd).toBeLessThanOrEqual(budget);
    for (const { outcome, reason } of experiment.runs) {
      if (outcome === 'refused') expect(reason).toContain('The budget of the experiment');
    }
  }
});

test('what costs nothing does not wait for the budget', async () => {
  const { workflowId } = await pastRuns(engine, asking('{n}', 0.01), numbers(3));
  const experiment = await tried(engine, workflowId, {
    ...{ candidate: { version: 1 }, allow: ['agent'], budget_usd: 0.000_001 },
  });
  expect(experiment.summary).toMatchObject({ equal: 3, refused: 0 });
  expect(experiment.spent_usd).toBe(0);
});

test('a step of unknown cost is refused under a budget, with a remedy', async () => {
  const { workflowId } = await pastRuns(engine, asking('{n}', 0.01), numbers(1));
  await redraft(
    engine,
    workflowId,
    chain({ id: 'read', kind: 'agent', prompt: '{n}', model: 'openai/gpt-4.1-mini' }),
  );
  const { runs } = await tried(engine, workflowId, { allow: ['agent'], budget_usd: 1 });
  expect(runs[0]).toMatchObject({ outcome: 'refused' });
  expect(runs[0]?.reason).toContain('max_output_tokens');
});
