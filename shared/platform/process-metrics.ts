import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';

const LOOK_EVERY_MS = 10;

/** A registry with the metrics of this process: those of Node, and how long its main thread was busy at a stretch. */
export function createRegistry(): Registry {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  measureBusy(registry);
  return registry;
}

/**
 * The lag of the event loop also counts the time in which the operating system gave the processor to others. This counts only
 * what the thread itself has computed between two looks. Node has the figure since version 23.9.
 */
function measureBusy(registry: Registry): void {
  if (!('threadCpuUsage' in process)) return;
  let longest = 0;
  let last = usedMs();
  setInterval(() => {
    const used = usedMs();
    longest = Math.max(longest, used - last);
    last = used;
  }, LOOK_EVERY_MS).unref();
  new Gauge({
    name: 'nodejs_eventloop_busy_max_seconds',
    help: 'The longest time for which the main thread has computed without a pause, since the last scrape',
    registers: [registry],
    collect() {
      this.set(longest / 1_000);
      longest = 0;
    },
  });
}

function usedMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1_000;
}
