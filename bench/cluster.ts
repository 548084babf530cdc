import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { Client } from '@temporalio/client';
import type { Addresses, Cluster } from '#scripts/cluster/cluster.ts';
import { createThrowawayCluster } from '#scripts/cluster/throwaway.ts';
import { since } from '#scripts/stack/output.ts';
import { connectLocally } from '#scripts/stack/temporal.ts';
import { type Service, serviceClient } from './api-client.ts';
import { chain, ordinaryChain } from './graphs.ts';
import { runBenchmark } from './lifecycle.ts';
import { fairness } from './measures/fairness.ts';
import type { Processes } from './processes.ts';
import { type ProcessorTime, processorTime } from './processor-time.ts';
import { begin, type Circumstances, finish, number, type Page, publish } from './report.ts';
import type { Result } from './result.ts';
import { cpuOf, query } from './stack.ts';
import { flood, median, timed } from './statistics.ts';

/**
 * `npm run bench:cluster`: runs per second of `npm run cluster` in several sizes, the processor time of each part, and
 * what a flood of one workspace does to another. Each size is measured twice, the second time in reverse order. Writes
 * `bench/results/cluster`.
 */
const resultsDir = join(import.meta.dirname, 'results');
const inFlight = 30;
const ROUND_MS = 20_000;
/** An overloaded server retries a lost workflow task after ten seconds. */
const LATE_MS = 10_000;

interface Size {
  apis: number;
  workers: number;
}

const full: Size = { apis: 2, workers: 3 };
const sizes: readonly Size[] = [
  { apis: 1, workers: 1 },
  { apis: 1, workers: 3 },
  { apis: 2, workers: 2 },
  full,
];

const graphs = { short: chain(3), ordinary: ordinaryChain(3) };
type Load = keyof typeof graphs;
const loads = Object.keys(graphs) as Load[];

interface Row extends Size {
  load: Load;
  runs_per_second: number;
  late_runs: number;
  processor: string;
}

interface ClusterReport extends Circumstances {
  rows: Row[];
  fairness: Result[];
}

interface Measured {
  rates: number[];
  runs: number;
  late: number;
  time: ProcessorTime;
}

/** The cluster that is being measured. */
const current: { cluster?: Cluster } = {};

/** The processor time used so far by the processes of each kind, in ms. */
function cpuByKind(): Record<string, number> {
  const sums: Record<string, number> = {};
  const children = (current.cluster?.parts ?? []).flatMap((part) => part.child() ?? []);
  for (const [name, ms] of Object.entries(cpuOf(children))) {
    const kind = name.replace(/-\d+$/, '');
    sums[kind] = (sums[kind] ?? 0) + ms;
  }
  return sums;
}

/** Starts a cluster of this size in its own folder, measures it, and stops it. */
async function withCluster<T>(
  processes: Processes,
  { size, name }: { size: Size; name: string },
  work: (service: Service, addresses: Addresses) => Promise<T>,
): Promise<T> {
  const folder = join(processes.folder, name);
  // As root, Postgres runs under another account, which must be able to enter.
  mkdirSync(folder, { mode: 0o755 });
  const cluster = await createThrowawayCluster(processes.claim, {
    ...size,
    folder,
    say: () => undefined,
  });
  const killAll = (): void => cluster.killAll();
  process.once('exit', killAll);
  current.cluster = cluster;
  try {
    const addresses = await cluster.start();
    // The free plan's quota would end the benchmark early.
    await query(addresses.databaseUrl, `UPDATE workspaces SET plan = 'enterprise'`);
    const client = new Client({ connection: await connectLocally(addresses.temporalAddress) });
    return await work(serviceClient(addresses.url, client), addresses);
  } finally {
    await cluster.stop();
    process.off('exit', killAll);
  }
}

async function measureSize(service: Service, measured: Record<Load, Measured>): Promise<void> {
  for (const load of loads) {
    const workflow = await service.define(load, graphs[load]);
    await flood(60, 10, () => service.run(workflow));
    await measured[load].time.during(() => round(() => service.run(workflow), measured[load]));
  }
}

/** Executes runs for a fixed time. With a fixed number, a late run at the end would count as much as all the others. */
async function round(run: () => Promise<unknown>, measured: Measured): Promise<void> {
  const begun = performance.now();
  let inTime = 0;
  const lane = async (): Promise<void> => {
    while (performance.now() < begun + ROUND_MS) {
      const ms = await timed(run);
      measured.runs += 1;
      if (ms >= LATE_MS) measured.late += 1;
      if (performance.now() <= begun + ROUND_MS) inTime += 1;
    }
  };
  await Promise.all(Array.from({ length: inFlight }, lane));
  measured.rates.push((inTime * 1_000) / ROUND_MS);
}

async function measure(processes: Processes): Promise<ClusterReport> {
  const report: ClusterReport = { ...begin(), rows: [], fairness: [] };
  const start = (): Measured => ({
    rates: [],
    runs: 0,
    late: 0,
    time: processorTime(cpuByKind),
  });
  const results = sizes.map((size) => ({ size, short: start(), ordinary: start() }));
  for (const [index, result] of [...results, ...results.toReversed()].entries()) {
    const { apis, workers } = result.size;
    const begun = performance.now();
    process.stdout.write(`${apis} × api, ${workers} × worker ... `);
    await withCluster(processes, { size: result.size, name: `cluster-${index}` }, (service) =>
      measureSize(service, result),
    );
    console.log(since(begun));
  }
  report.rows = results.flatMap((result) =>
    loads.map((load) => {
      const { rates, runs, late, time } = result[load];
      return {
        ...result.size,
        load,
        runs_per_second: median(rates),
        late_runs: late,
        processor: time.perRun(runs),
      };
    }),
  );
  const begun = performance.now();
  process.stdout.write('fairness ... ');
  report.fairness = await withCluster(
    processes,
    { size: full, name: 'fairness' },
    (service, { url, databaseUrl }) => fairness({ service, apiUrl: url, databaseUrl }),
  );
  console.log(since(begun));
  finish(report);
  return report;
}

function page({ date, rows, fairness: fair }: ClusterReport): Page {
  const [one] = fair;
  return {
    title: `Cluster, ${date.slice(0, 10)}`,
    remark: 'All processes share these processors, so another process only divides them further.',
    rows: [
      [
        'size',
        'three steps',
        `runs/s, ${inFlight} in flight`,
        'later than 10 s',
        'processor time per run',
      ],
      ...rows.map((row) => [
        `${row.apis} × api, ${row.workers} × worker`,
        row.load,
        number(row.runs_per_second),
        String(row.late_runs),
        row.processor,
      ]),
    ],
    notes:
      one === undefined
        ? []
        : [
            `${one.measure}: ${number(one.ours?.median ?? NaN)} (p95 ${number(one.ours?.p95 ?? NaN)}) / ${number(one.baseline?.median ?? NaN)} (p95 ${number(one.baseline?.p95 ?? NaN)}) ms, ratio ${number(one.value)}; ${one.notes.join('; ')}`,
          ],
  };
}

await runBenchmark(async (processes) => {
  const report = await measure(processes);
  publish(report, page(report), { folder: resultsDir, name: 'cluster' });
  return 0;
});
