import { execFileSync } from 'node:child_process';
import { freePorts } from '#scripts/stack/ports.ts';
import { collectGarbage } from '#bench/garbage.ts';
import { chain } from '#bench/graphs.ts';
import { atMost, compare, type Result, single } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { flood, pause } from '#bench/statistics.ts';

const few = 200;
const many = 2_000;
const inFlight = 30;
/** V8 collects garbage when a process has been idle for some seconds. */
const quietMs = 15_000;
const budgetMs = 150_000;

/**
 * Memory of a fresh worker process after few and after many runs: resident memory after a quiet period, and memory
 * after a garbage collection. The first can grow until V8 has a reason to collect, the second only by retained objects.
 */
export async function memory({ service, renewWorker }: Stack): Promise<Result[]> {
  const workflow = await service.define('Three tools', chain(3));
  const [port = 0] = await freePorts(1);
  const worker = await renewWorker(port);
  const run = () => service.run(workflow);
  await flood(few, inFlight, run);
  const afterFew = await memoryOf(worker.pid, port);
  const end = performance.now() + budgetMs;
  let done = few;
  while (done < many && performance.now() < end) {
    await flood(200, inFlight, run);
    done += 200;
  }
  const afterMany = await memoryOf(worker.pid, port);
  const runs = `after ${done.toLocaleString('en-US')} runs / after ${few}`;
  const notes = done < many ? [`too slow for ${many} runs in ${budgetMs / 1_000} s`] : [];
  return [
    compare({
      measure: `worker memory, garbage collected, ${runs}`,
      unit: 'MB',
      ours: single(afterMany.kept),
      baseline: single(afterFew.kept),
      bound: atMost(1.3),
      notes,
    }),
    compare({
      measure: `worker memory, resident, ${runs}`,
      unit: 'MB',
      ours: single(afterMany.resident),
      baseline: single(afterFew.resident),
      bound: atMost(1.3),
      notes,
    }),
  ];
}

interface Memory {
  resident: number;
  kept: number;
}

/** Of a process with this debugger port, in MB: resident after a quiet period, and after a garbage collection. */
export async function memoryOf(pid: number, debuggerPort: number): Promise<Memory> {
  await pause(quietMs);
  const resident = residentMb(pid);
  await collectGarbage(debuggerPort);
  await pause(1_000);
  return { resident, kept: residentMb(pid) };
}

function residentMb(pid: number): number {
  const kilobytes = execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' });
  return Number(kilobytes.trim()) / 1_024;
}
