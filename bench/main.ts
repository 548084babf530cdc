import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { messageOf, since } from '#scripts/stack/output.ts';
import { runBenchmark } from './lifecycle.ts';
import { admission } from './measures/admission.ts';
import { agents } from './measures/agents/agents.ts';
import { approve } from './measures/approve.ts';
import { consoleMeasure } from './measures/console/console.ts';
import { backtest } from './measures/history/backtest.ts';
import { experiment } from './measures/history/experiment.ts';
import { search } from './measures/history/search.ts';
import { sweep } from './measures/history/sweep.ts';
import { ingest } from './measures/data/ingest.ts';
import { deltas } from './measures/agents/deltas.ts';
import { deliveries } from './measures/data/deliveries.ts';
import { consequences } from './measures/pure/consequences.ts';
import { dryRun } from './measures/pure/dry-run.ts';
import { fairness } from './measures/fairness.ts';
import { grown } from './measures/data/grown.ts';
import { dataReading } from './measures/data/reading.ts';
import { limits } from './measures/limits.ts';
import { largeStates } from './measures/large-states.ts';
import { latency } from './measures/latency.ts';
import { map } from './measures/map.ts';
import { mcp } from './measures/mcp.ts';
import { memory } from './measures/memory.ts';
import { python } from './measures/python/python.ts';
import { overview } from './measures/overview.ts';
import { openapi } from './measures/pure/openapi.ts';
import { policy } from './measures/pure/policy.ts';
import { read } from './measures/read.ts';
import { signIn } from './measures/sign-in.ts';
import { scale } from './measures/scale.ts';
import { schedules } from './measures/schedules.ts';
import { stalls } from './measures/stalls.ts';
import { start } from './measures/start.ts';
import { throughput } from './measures/throughput.ts';
import { trigger } from './measures/trigger.ts';
import { waits } from './measures/waits.ts';
import { webhook } from './measures/webhook.ts';
import type { Processes } from './processes.ts';
import { writeStatements } from './profile.ts';
import { begin, finish, page, publish, type Report } from './report.ts';
import type { Result } from './result.ts';
import { startStack, type Stack } from './stack.ts';
import { flood } from './statistics.ts';
import { chain } from './graphs.ts';

/**
 * `npm run bench [-- <measure>... ] [--profile]`: compares the service with bare Temporal, Postgres and Fastify on the
 * same servers, over loopback. Compare ratios: absolute figures depend on the machine and its load. A full run writes
 * `results/latest`, a partial run `results/local-<measures>`. `--profile` adds processor profiles and statement costs
 * under `results/local-profile`, and slows the measured processes.
 */
const alone = { start, policy, 'dry-run': dryRun, consequences, openapi } satisfies Record<
  string,
  (processes: Processes) => Promise<Result[]>
>;
type OnStack = (stack: Stack, processes: Processes) => Promise<Result[]>;
// The last two leave data in the database and the server that would distort later measures.
const onStack = {
  latency,
  trigger,
  webhook,
  mcp,
  approve,
  limits,
  agents,
  deltas,
  read,
  console: consoleMeasure,
  'sign-in': signIn,
  ingest,
  throughput,
  stalls,
  'large-states': largeStates,
  fairness,
  schedules,
  deliveries,
  scale,
  map,
  memory,
  admission,
  overview,
  'data-reading': dataReading,
} satisfies Record<string, OnStack>;
/** Only when named, because they take long, or need Python. */
const onDemand = { grown, sweep, search, backtest, experiment, waits, python } satisfies Record<
  string,
  OnStack
>;
const usual = [...Object.keys(alone), ...Object.keys(onStack)];
const names = [...usual, ...Object.keys(onDemand)];
const resultsDir = join(import.meta.dirname, 'results');

interface Request {
  wanted: Set<string>;
  all: boolean;
  profileDir: string | undefined;
}

function parse(args: string[]): Request {
  const flags = args.filter((arg) => arg.startsWith('--'));
  const given = args.filter((arg) => !arg.startsWith('--'));
  const unknown = [
    ...given.filter((name) => !names.includes(name)),
    ...flags.filter((flag) => flag !== '--profile'),
  ];
  if (unknown.length > 0) {
    throw new Error(`Unknown: ${unknown.join(', ')}. There are: ${names.join(', ')}, --profile`);
  }
  return {
    wanted: new Set(given.length > 0 ? given : usual),
    all: given.length === 0,
    profileDir: flags.length > 0 ? join(resultsDir, 'local-profile') : undefined,
  };
}

async function measure(request: Request, processes: Processes): Promise<Report> {
  const report: Report = { ...begin(), results: [] };
  const take = async (name: string, work: () => Promise<Result[]>): Promise<void> => {
    if (!request.wanted.has(name) || processes.stopping()) return;
    const begun = performance.now();
    process.stdout.write(`${name} ... `);
    try {
      report.results.push(...(await work()));
      console.log(since(begun));
    } catch (error) {
      if (processes.stopping()) return;
      report.errors[name] = messageOf(error);
      console.log(`failed: ${messageOf(error)}`);
    }
  };
  for (const [name, work] of Object.entries(alone)) await take(name, () => work(processes));
  const withStack = { ...onStack, ...onDemand };
  if (Object.keys(withStack).some((name) => request.wanted.has(name))) {
    const stack = await bringUp(request, processes);
    for (const [name, work] of Object.entries(withStack)) {
      await take(name, () => work(stack, processes));
    }
    if (request.profileDir !== undefined) {
      await writeStatements(stack.databaseUrl, request.profileDir);
    }
  }
  finish(report);
  return report;
}

/** Starts and warms up both sides: code compiled, connections open, caches filled. */
async function bringUp(request: Request, processes: Processes): Promise<Stack> {
  const begun = performance.now();
  process.stdout.write('servers and warm-up ... ');
  if (request.profileDir !== undefined) {
    rmSync(request.profileDir, { recursive: true, force: true });
  }
  const stack = await startStack(processes, { profileDir: request.profileDir });
  const workflow = await stack.service.define('Warm-up', chain(3));
  await flood(90, 10, () => stack.service.run(workflow));
  await flood(90, 10, () => stack.bare.run(3));
  console.log(since(begun));
  return stack;
}

await runBenchmark(async (processes) => {
  const request = parse(process.argv.slice(2));
  const report = await measure(request, processes);
  if (!processes.stopping()) {
    const name = request.all ? 'latest' : `local-${[...request.wanted].join('-')}`;
    publish(report, page(report), { folder: resultsDir, name });
  }
  return Object.keys(report.errors).length === 0 ? 0 : 1;
});
