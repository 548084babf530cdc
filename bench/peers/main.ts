import { join } from 'node:path';
import { messageOf, since } from '../../scripts/stack/output.ts';
import { runBenchmark } from '../lifecycle.ts';
import type { Processes } from '../processes.ts';
import { processorTime, type ProcessorTime } from '../processor-time.ts';
import {
  begin,
  finish,
  number,
  type Circumstances,
  type Page,
  publish,
  withP95,
} from '../report.ts';
import { figure, type Figure } from '../result.ts';
import { startStack } from '../stack.ts';
import { alternate, median } from '../statistics.ts';
import { ours, peers, type Running, type System } from './systems.ts';

/**
 * `npm run bench:peers`: the same run of three small steps on this service, on bare Temporal and on other products, on
 * one machine. Writes `bench/results/peers`.
 */
const resultsDir = join(import.meta.dirname, '../results');
const inFlight = 30;
const runsPerRound = 100;
const latencyLimits = { count: 60, least: 20, budgetMs: 30_000 };
const throughputLimits = { count: 5, least: 3, budgetMs: 70_000 };

interface Row {
  system: string;
  scope: string;
  /** One run, end to end. */
  run_ms: Figure;
  runs_per_second: Figure;
  /** With many runs in flight, including the client; 0 if the system does not report it. */
  processor_ms_per_run: number;
  /** The same by process. */
  processor: string;
  /** Ours divided by this system's. */
  ratio: { run_ms: number; runs_per_second: number };
}

interface PeersReport extends Circumstances {
  in_flight: number;
  rows: Row[];
}

interface Started extends System {
  running: Running;
  time: ProcessorTime;
}

/** Starts and warms up the systems. Those that do not start here are left out, with the reason in the report. */
async function startAll(report: PeersReport, processes: Processes): Promise<Started[]> {
  const begun = performance.now();
  process.stdout.write('servers and warm-up ... ');
  const stack = await startStack(processes);
  const started: Started[] = [];
  for (const system of [ours, ...peers]) {
    try {
      const running = await system.start(stack, processes);
      await running.flood(90, 10);
      await running.flood(10, 1);
      started.push({ ...system, running, time: processorTime(running.cpu) });
    } catch (error) {
      if (system === ours || processes.stopping()) throw error;
      report.errors[system.name] = messageOf(error);
    }
  }
  console.log(since(begun));
  return started;
}

async function measured(what: string, work: () => Promise<number[][]>): Promise<number[][]> {
  const begun = performance.now();
  process.stdout.write(`${what} ... `);
  const rounds = await work();
  console.log(since(begun));
  return rounds;
}

async function measure(processes: Processes): Promise<PeersReport> {
  const report: PeersReport = { ...begin(), in_flight: inFlight, rows: [] };
  const started = await startAll(report, processes);
  const latency = await measured('one run', () =>
    alternate(
      latencyLimits,
      started.map(
        ({ running }) =>
          () =>
            running.flood(1, 1),
      ),
    ),
  );
  const throughput = await measured(`${inFlight} in flight`, () =>
    alternate(
      throughputLimits,
      started.map(({ running, time }) => async () => {
        const ms = await time.during(() => running.flood(runsPerRound, inFlight));
        return (runsPerRound * 1_000) / ms;
      }),
    ),
  );
  report.rows = rowsOf(started, { latency, throughput });
  finish(report);
  return report;
}

/** One row for each system from its column of the rounds; the first system is ours. */
function rowsOf(
  started: readonly Started[],
  rounds: { latency: number[][]; throughput: number[][] },
): Row[] {
  const column = (values: number[][], index: number): number[] =>
    values.map((round) => round[index] ?? Number.NaN);
  const ourLatency = median(column(rounds.latency, 0));
  const ourRates = column(rounds.throughput, 0);
  return started.map(({ name, scope, time }, index) => {
    const runMs = column(rounds.latency, index);
    const rates = column(rounds.throughput, index);
    const runs = rates.length * runsPerRound;
    return {
      system: name,
      scope,
      run_ms: figure(runMs),
      runs_per_second: figure(rates),
      processor_ms_per_run: time.totalPerRun(runs),
      processor: time.perRun(runs),
      ratio: {
        run_ms: ourLatency / median(runMs),
        // The values of one round were taken under the same load; the medians of each system may not have been.
        runs_per_second: median(ourRates.map((rate, round) => rate / (rates[round] ?? Number.NaN))),
      },
    };
  });
}

function page({ date, rows, in_flight }: PeersReport): Page {
  return {
    title: `Peers, ${date.slice(0, 10)}`,
    remark:
      'A run has three steps that do almost nothing. The systems took turns on one machine, so the ratios hold also ' +
      'where the absolute figures do not.',
    rows: [
      [
        'system',
        'one run, ms',
        'ours / this',
        `runs/s, ${in_flight} in flight`,
        'ours / this',
        'processor time per run, ms',
      ],
      ...rows.map((row) => [
        row.system,
        withP95(row.run_ms),
        number(row.ratio.run_ms),
        number(row.runs_per_second.median),
        number(row.ratio.runs_per_second),
        number(row.processor_ms_per_run),
      ]),
    ],
    notes: rows.map(
      ({ system, scope, processor }) => `${system}: ${scope} Processor time: ${processor}.`,
    ),
  };
}

await runBenchmark(async (processes) => {
  const report = await measure(processes);
  if (!processes.stopping()) publish(report, page(report), { folder: resultsDir, name: 'peers' });
  return Object.keys(report.errors).length === 0 ? 0 : 1;
});
