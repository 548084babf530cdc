import { beforeAll, expect, test } from '@jest/globals';
import { finishStep } from '#shared/db/steps/step-ends.ts';
import { replaceChecks } from '#shared/db/workflows/workflows.ts';
import { echo, useEngine } from '#test/support/engine.ts';
import { raceRounds } from '#test/support/soak.ts';
import { beginAs, settleAs } from '#test/db/tool-step.ts';

const engine = useEngine({ worker: false });
let workflowId: string;
beforeAll(async () => {
  workflowId = await engine.define({ nodes: [echo('a')], edges: [] });
  await replaceChecks(engine.db, engine.actor, workflowId, [
    { name: 'quick', type: 'max_duration_ms', value: 60_000 },
    { name: 'cheap', type: 'max_cost_usd', value: 1 },
  ]);
});

const begin = (runId: string, claim: string) => beginAs(engine, runId, { claim });
const finish = (runId: string, claim: string, costMicros: number) =>
  finishStep(engine.db, { runId, stepKey: 'a', nodeId: 'a', claim, spending: { costMicros } }, 'x');
const settle = (runId: string) => settleAs(engine, runId, 'e', '{"a":"x"}');

test('checks use the duration that the run shows, to the millisecond', async () => {
  for (let round = 0; round < 40; round += 1) {
    const runId = await engine.trigger(workflowId);
    await begin(runId, 'one');
    await finish(runId, 'one', 5);
    expect(await settle(runId)).toMatchObject({ settled: true });
    const { evals, duration_ms, cost_usd } = await engine.run(runId);
    expect(evals?.results.map(({ actual }) => actual)).toEqual([duration_ms, cost_usd]);
  }
});

test('a cost change during scoring scores the checks of a run again', async () => {
  for (let round = 0; round < raceRounds(20); round += 1) {
    const runId = await engine.trigger(workflowId);
    await begin(runId, 'given up');
    await begin(runId, 'one');
    await finish(runId, 'one', 5);
    const late = [1, 2, 3].map((cost) => finish(runId, 'given up', cost));
    const [settlement] = await Promise.all([settle(runId), ...late]);
    expect(settlement).toMatchObject({ settled: true, status: 'success' });
    const { evals, duration_ms } = await engine.run(runId);
    const [duration, cost] = evals!.results.map(({ actual }) => actual);
    expect([duration, cost]).toEqual([duration_ms, settlement.costMicros / 1_000_000]);
  }
});
