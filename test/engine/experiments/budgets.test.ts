import { expect, test } from '@jest/globals';
import { mock, useEngine } from '#test/support/engine.ts';
import { pastRuns, redraft, tried } from '#test/support/experiments.ts';
import { soakTest } from '#test/support/soak.ts';

const engine = useEngine();

const asking = (prompt: string, cost_usd: number) => ({
  nodes: [mock('read', { output: '{n}', cost_usd, delay_ms: 20 }, { prompt })],
  edges: [],
});
const numbers = (length: number) => Array.from({ length }, (_, n) => ({ n }));

soakTest(
  'the budget of an experiment is spent, and never exceeded by rehearsals side by side',
  async () => {
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
  },
  120_000,
);

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
  await redraft(engine, workflowId, {
    nodes: [{ id: 'read', kind: 'agent', prompt: '{n}', model: 'openai/gpt-4.1-mini' }],
    edges: [],
  });
  const { runs } = await tried(engine, workflowId, { allow: ['agent'], budget_usd: 1 });
  expect(runs[0]).toMatchObject({ outcome: 'refused' });
  expect(runs[0]?.reason).toContain('max_output_tokens');
});
