import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '#test/storm/random.ts';
import type { Feature, World } from '#test/storm/world.ts';
import { callbacks } from './callbacks.ts';
import { gates, parallelGates } from './gates.ts';
import { debounces, limitChanges, queues } from './limits.ts';
import { budgets, caps } from './money.ts';
import { pings, policies, terminations } from './operators.ts';
import { exports, ingest, reads } from './records.ts';
import { cancels, failures, plainRuns } from './runs.ts';
import { hooks, mcp, schedules } from './triggers.ts';
import { broadcasts, waits } from './waits.ts';
import { workflows } from './workflows.ts';

export const features: readonly Feature[] = [
  plainRuns,
  failures,
  cancels,
  gates,
  parallelGates,
  waits,
  broadcasts,
  callbacks,
  queues,
  limitChanges,
  debounces,
  budgets,
  caps,
  hooks,
  schedules,
  mcp,
  ingest,
  reads,
  exports,
  workflows,
  terminations,
  policies,
  pings,
];

/** Concurrent clients. More would only wait for the processors of a small machine. */
const CLIENTS = 10;
const PAUSE_MS = [100, 1_200] as const;

/** Clients that perform one action after another while the world runs. Throws errors of the workload itself. */
export async function runWorkload(world: World, random: Random): Promise<void> {
  const choices = features.map((feature) => [feature.weight, feature] as const);
  await Promise.all(
    Array.from({ length: CLIENTS }, async (_, client) => {
      const own = random.fork(`client ${client}`);
      for (let turn = 0; world.running(); turn += 1) {
        await own.weighted(choices).run(world, own.fork(`turn ${turn}`), `c${client}t${turn}`);
        await sleep(own.int(...PAUSE_MS));
      }
    }),
  );
}
