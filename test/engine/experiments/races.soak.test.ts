import { z } from 'zod';
import { beforeAll, expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { advanceJob } from '#shared/operations/jobs/advance.ts';
import { startToolServer } from '#test/fakes/tool-server.ts';
import { chain, echo, mock, useEngine } from '#test/support/engine.ts';
import { type Laboratory, pastRuns, redraft, result, start } from '#test/support/experiments.ts';
import { startWorkerProcess } from '#test/support/processes.ts';
import { useStage } from '#test/support/stage.ts';

// Executions of the same job rehearse at the same time. Every run is rehearsed once, and the result is that of one execution.

const engine = useEngine({ worker: false });
const tools = useStage(startToolServer);
let laboratory: Laboratory;
const RUNS = 40;

beforeAll(async () => {
  const worker = await startWorkerProcess(engine.env);
  const graph = (expression: string) =>
    chain(
      mock('ask', { output: 'Number {n}', cost_usd: 0.5 }),
      tools.node('send'),
      echo('last', expression),
    );
  laboratory = await pastRuns(
    engine,
    graph('ask'),
    // Text plus a number fails.
    Array.from({ length: RUNS }, (_, n) => ({ n, mark: [0, '', '!'][n % 3] ?? 0 })),
    [{ name: 'has no mark', type: 'not_contains', value: '!' }] as never,
  );
  await redraft(engine, laboratory.workflowId, graph('ask + mark'));
  await worker.kill();
}, 120_000);

const rehearsed = (id: string) =>
  engine.db.any(sql.type(z.object({ forked_from: z.string() }))`
    SELECT forked_from FROM runs WHERE experiment_id = ${id}`);

async function expectUndisturbed(id: string): Promise<void> {
  const experiment = await result(engine, id, 120_000);
  expect(experiment).toMatchObject({
    ...{ status: 'done', progress: { done: RUNS, total: RUNS }, spent_usd: 0 },
    summary: { failed: 14, equal: 13, changed: 13, checks: { won: 0, lost: 27 } },
  });
  const sources = (await rehearsed(id)).map(({ forked_from }) => forked_from);
  expect(sources).toHaveLength(RUNS);
  expect(new Set(sources).size).toBe(RUNS);
  // The past runs have sent; their rehearsals send nothing.
  expect(tools.calls('send')).toHaveLength(RUNS);
}

test('concurrent executions rehearse no run twice', async () => {
  const worker = await startWorkerProcess(engine.env);
  for (let round = 0; round < 3; round += 1) {
    const id = await start(engine, laboratory.workflowId);
    const scope = { workspaceId: engine.actor.workspaceId, jobId: id, round: 1 };
    const { signal } = new AbortController();
    const advance = async (): Promise<void> => {
      const part = await advanceJob(engine.deps, scope, { onBatch: () => undefined, signal });
      if (part === 'more') await advance();
    };
    await Promise.all([advance(), advance()]);
    await expectUndisturbed(id);
  }
  await worker.kill();
}, 240_000);
