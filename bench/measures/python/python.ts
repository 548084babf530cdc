import { mkdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { chain } from '#bench/graphs.ts';
import type { Processes } from '#bench/processes.ts';
import { atMost, compare, compareSamples, type Result, single } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { interleave } from '#bench/statistics.ts';
import { buildWheel, installWheel, preparePythonTools } from '#test/clients/python.ts';
import { must } from '#test/clients/tools.ts';

const RUNS = 150;

/** What the Python client adds to httpx: to its import, and to the requests of a run. Its wheel is installed as by a user. */
export async function python({ service, apiUrl }: Stack, { folder }: Processes): Promise<Result[]> {
  const tools = await preparePythonTools();
  if ('missing' in tools) throw new Error(`not on this machine: ${tools.missing}`);
  const home = join(folder, 'python-client');
  mkdirSync(home, { recursive: true });
  const wheel = await buildWheel(tools, home);
  const command = await installWheel(tools, wheel, home);
  const workflow = await service.define('Of the Python client', chain(1));
  return [
    compare({
      measure: 'wheel of the Python client',
      unit: 'kB',
      ours: single(statSync(wheel).size / 1000),
      bound: atMost(200),
    }),
    await imports(command),
    await runs(command, [apiUrl, workflow]),
  ];
}

/** In a new process each time. The time is taken in the process, without its start. */
async function imports(command: string): Promise<Result> {
  const time = async (statement: string): Promise<number> => {
    const program = `import time; t = time.perf_counter(); ${statement}; print((time.perf_counter() - t) * 1000)`;
    return Number(await must(command, ['-c', program]));
  };
  const ours = () => time('from durable_workflows import Client');
  const baseline = () => time('import httpx');
  await ours();
  await baseline();
  const samples = await interleave({ count: 40, least: 20, budgetMs: 30_000 }, ours, baseline);
  return compareSamples(samples, {
    measure: 'import of the Python client / of httpx alone',
    unit: 'ms',
    bound: atMost(1.3),
  });
}

async function runs(command: string, [apiUrl, workflow]: [string, string]): Promise<Result> {
  const program = join(import.meta.dirname, 'run_wait.py');
  const output = await must(command, [program, apiUrl, workflow, String(RUNS)], {
    env: { NO_PROXY: '127.0.0.1', no_proxy: '127.0.0.1' },
  });
  const { ours, baseline } = JSON.parse(output) as { ours: number[]; baseline: number[] };
  const samples = ours.map((each, round) => ({
    ours: each,
    baseline: baseline[round] ?? Number.NaN,
  }));
  return compareSamples(samples, {
    measure: 'run(wait=True) of the Python client / the same requests with httpx',
    unit: 'ms',
    bound: atMost(1.05),
    notes: ['both poll every 20 ms, in one process and in turns'],
  });
}
