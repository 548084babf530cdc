import { type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';

/**
 * Does some work, and returns its result and the share of the processor time of this process, from 0 to 1, that the
 * calling thread took, which also serves the requests or activities of others. Excludes its garbage collection: that of
 * earlier tests can take hundreds of ms.
 */
export async function onMainThread<T>(
  work: () => Promise<T>,
): Promise<{ result: T; share: number }> {
  let collecting = 0;
  const add = (entries: PerformanceEntry[]): void => {
    for (const { duration } of entries) collecting += duration;
  };
  const observer = new PerformanceObserver((list) => add(list.getEntries()));
  observer.observe({ entryTypes: ['gc'] });
  const [thread, all] = [process.threadCpuUsage(), process.cpuUsage()];
  const result = await work();
  const ms = ({ user, system }: NodeJS.CpuUsage) => (user + system) / 1_000;
  const [threadMs, allMs] = [ms(process.threadCpuUsage(thread)), ms(process.cpuUsage(all))];
  add(observer.takeRecords());
  observer.disconnect();
  const spent = Math.max(0, threadMs - collecting);
  return { result, share: spent / Math.max(1, allMs - collecting) };
}
