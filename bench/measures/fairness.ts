import { ordinaryChain, ordinarySteps } from '#bench/graphs.ts';
import { atMost, compare, figure, type Result } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { pause, percentile, timed } from '#bench/statistics.ts';
import { createTenant, type Tenant } from '#bench/tenant.ts';

/** 3,000 steps of the other tenant, which a worker executes in two minutes. */
const FLOOD_RUNS = 30;
const STEPS_PER_RUN = 100;
/** How long these steps occupy a slot of the worker, in ms. Different times, as with models, so they end one by one. */
const STEP_MS = { shortest: 2_000, longest: 6_000 };
const SAMPLES_ALONE = 100;
const SETTLE_MS = 2_000;
/** Nearly as long as the flood, so that it includes the first seconds, while the flood is dispatched. */
const BESIDE_MS = 60_000;

const FLOODS = {
  '3,000 queued steps': floodWithSteps,
  'a tree of 3,280 runs': floodWithRuns,
};

/** The runs of one tenant while three thousand steps, or a tree of three thousand runs, of another wait in the same task queue. */
export async function fairness(
  stack: Pick<Stack, 'service' | 'apiUrl' | 'databaseUrl'>,
): Promise<Result[]> {
  const flooder = await createTenant(stack, 'Flooder');
  const workflow = await stack.service.define('Beside a flood', ordinaryChain(3));
  const time = () => timed(() => stack.service.run(workflow));
  const results: Result[] = [];
  try {
    for (let n = 0; n < 10; n += 1) await time();
    for (const [what, flood] of Object.entries(FLOODS)) {
      const alone = await sample(time, (count) => count < SAMPLES_ALONE);
      await flood(flooder);
      await pause(SETTLE_MS);
      const end = performance.now() + BESIDE_MS;
      const beside = await sample(time, () => performance.now() < end);
      const waiting = (await flooder.openRuns()).length;
      const first = percentile(beside.slice(0, Math.ceil(beside.length / 10)), 95);
      const rest = percentile(beside.slice(Math.ceil(beside.length / 10)), 95);
      results.push(
        compare({
          measure: `another tenant's run of 3 ordinary steps beside ${what} / without, p95`,
          unit: 'ms',
          ours: figure(beside),
          baseline: figure(alone),
          value: percentile(beside, 95) / percentile(alone, 95),
          bound: { ...atMost(2), aim: 1.3 },
          notes: [
            `${beside.length} runs in a minute; first tenth: ${Math.round(first)} ms at p95, the rest: ${Math.round(rest)} ms; ${waiting} runs of the flood were still open at the end`,
          ],
        }),
      );
      await flooder.cancelRuns();
      await pause(SETTLE_MS);
    }
    return results;
  } finally {
    await flooder.cancelRuns();
    await flooder.close();
  }
}

async function sample(
  time: () => Promise<number>,
  more: (count: number) => boolean,
): Promise<number[]> {
  const times: number[] = [];
  while (more(times.length)) times.push(await time());
  return times;
}

/** Runs that each start three, eight levels deep. */
async function floodWithRuns(tenant: Tenant): Promise<void> {
  const define = async (name: string, graph: object): Promise<string> =>
    ((await tenant.send('POST', '/api/workflows', { name, graph })) as { id: string }).id;
  let id = await define('Level 8', ordinaryChain(1));
  for (let level = 7; level >= 1; level -= 1) {
    const nodes = ['a', 'b', 'c'].map((step) => ({ id: step, kind: 'workflow', workflow: id }));
    id = await define(`Level ${level}`, { nodes, edges: [] });
  }
  await tenant.send('POST', `/api/workflows/${id}/runs`, {});
}

async function floodWithSteps(tenant: Tenant): Promise<void> {
  const { id } = (await tenant.send('POST', '/api/workflows', {
    name: 'Flood',
    graph: ordinarySteps(STEPS_PER_RUN, STEP_MS),
  })) as { id: string };
  await Promise.all(
    Array.from({ length: FLOOD_RUNS }, () => tenant.send('POST', `/api/workflows/${id}/runs`, {})),
  );
}
