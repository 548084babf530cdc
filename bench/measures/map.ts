import type { JsonObject } from '#shared/json.ts';
import { chain, mapOf } from '#bench/graphs.ts';
import { atLeast, atMost, compare, figure, type Result, single } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { median, timed } from '#bench/statistics.ts';
import { memoryOf } from './memory.ts';
import { freePorts } from '#scripts/stack/ports.ts';

const items = 10_000;
const stepsPerItem = 2;
const chained = 10;
/** Before and after the map, since the machine's load changes. */
const shortRuns = 20;
const runTimeoutMs = 600_000;
const MAX_EVENTS = 20_000;

const inputOf = (count: number): JsonObject => ({
  list: Array.from({ length: count }, (_, at) => at),
});

/**
 * Compares the speed of the steps of a map of ten thousand items with that of a short chain, and the memory of a fresh
 * worker after it with the memory after a map of a hundredth of the items.
 */
export async function map({ service, renewWorker }: Stack): Promise<Result[]> {
  const short = await service.define('Ten tools', chain(chained));
  const workflow = await service.define('Map', mapOf(stepsPerItem));
  const [port = 0] = await freePorts(1);
  const worker = await renewWorker(port);
  const runMap = async (count: number): Promise<string> => {
    const runId = await service.trigger(workflow, inputOf(count));
    await service.until(runId, 'ended', runTimeoutMs);
    return runId;
  };
  const perSecond: number[] = [];
  const runShort = async (): Promise<void> => {
    for (let run = 0; run < shortRuns; run += 1) {
      perSecond.push((chained * 1_000) / (await timed(() => service.run(short))));
    }
  };
  await service.run(short);
  await runMap(items / 100);
  const before = await memoryOf(worker.pid, port);
  await runShort();
  let runId = '';
  const ms = await timed(async () => {
    runId = await runMap(items);
  });
  await runShort();
  const after = await memoryOf(worker.pid, port);
  const ours = (items * stepsPerItem * 1_000) / ms;
  return [
    compare({
      measure: `steps per second, map of ${items.toLocaleString('en-US')} items / ${chained}-node chain`,
      unit: 'steps/s',
      ours: single(ours),
      baseline: figure(perSecond),
      value: ours / median(perSecond),
      bound: atLeast(0.8),
    }),
    compare({
      measure: 'worker memory, garbage collected, after the map / after a hundredth of its items',
      unit: 'MB',
      ours: single(after.kept),
      baseline: single(before.kept),
      bound: atMost(1.3),
    }),
    compare({
      measure: 'history events of the longest execution of the map',
      unit: 'events',
      ours: single(await service.longestHistory(runId)),
      bound: atMost(MAX_EVENTS),
    }),
  ];
}
