import { setTimeout as sleep } from 'node:timers/promises';
import pg from 'pg';
import { percentile } from '#bench/statistics.ts';
import type { Addresses, Cluster } from '#scripts/cluster/cluster.ts';
import { type Load, startLoad } from './load.ts';

/** Load before the first restart and after the last, and between two restarts, in ms. */
const CALM_MS = 5_000;
/** After the load, the time within which at least one more of the runs in flight ends. A busy machine needs long for all. */
const SETTLE_MS = 60_000;

export interface RollingRestart {
  /** How long each process took from its signal to its next readiness. */
  restarts: { part: string; seconds: number }[];
  requests: number;
  lost: Load['lost'];
  retried: Load['retried'];
  /** The time until the answer, including retries, in ms. */
  latency: { p50: number; p99: number; longest: number };
  /** Runs in the database, by status. */
  runs: Record<string, number>;
}

/** Restarts every process of the cluster in turn while clients trigger runs. */
export async function rollingRestart(
  cluster: Cluster,
  { url, databaseUrl }: Addresses,
  say: (line: string) => void,
): Promise<RollingRestart> {
  const load = await startLoad({ baseUrl: url });
  const restarts: RollingRestart['restarts'] = [];
  await sleep(CALM_MS);
  // In reverse order, so that a server restarts under processes that have just started.
  for (const part of cluster.parts.toReversed()) {
    const started = performance.now();
    await cluster.restart(part);
    const seconds = (performance.now() - started) / 1_000;
    restarts.push({ part: part.name, seconds });
    say(`${part.name} restarted in ${seconds.toFixed(1)} s`);
    await sleep(CALM_MS);
  }
  const { workflowId, latencies, lost, retried } = await load.stop();
  const sorted = [50, 99, 100].map((percent) => percentile(latencies, percent));
  const [p50 = 0, p99 = 0, longest = 0] = sorted;
  return {
    restarts,
    requests: latencies.length + lost.length,
    lost,
    retried,
    latency: { p50, p99, longest },
    runs: await settledRuns(databaseUrl, workflowId),
  };
}

/** The workflow's runs by status, once none is in flight, or none has ended for `SETTLE_MS`. */
async function settledRuns(
  databaseUrl: string,
  workflowId: string,
): Promise<Record<string, number>> {
  let fewest = Infinity;
  let deadline = 0;
  const client = new pg.Client({ connectionString: databaseUrl });
  await client.connect();
  try {
    for (;;) {
      const { rows } = await client.query<{ status: string; count: number }>(
        'SELECT status, count(*)::int FROM runs WHERE workflow_id = $1 GROUP BY status',
        [workflowId],
      );
      const runs = Object.fromEntries(rows.map(({ status, count }) => [status, count]));
      const open = (runs['pending'] ?? 0) + (runs['running'] ?? 0);
      if (open < fewest) {
        fewest = open;
        deadline = Date.now() + SETTLE_MS;
      }
      if (open === 0 || Date.now() > deadline) return runs;
      await sleep(500);
    }
  } finally {
    await client.end();
  }
}
