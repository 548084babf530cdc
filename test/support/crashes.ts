import { eventually } from './engine.ts';
import { startWorkerProcess } from './processes.ts';

/** Starts a worker for each number of calls, and kills it once that many were made: crashes in the middle of a run. */
export async function killWorkersAt(
  env: Record<string, string>,
  numbers: readonly number[],
  calls: () => number,
  withinMs = 60_000,
): Promise<void> {
  for (const number of numbers) {
    const worker = await startWorkerProcess(env);
    try {
      await eventually(() => calls() >= number, withinMs);
    } finally {
      await worker.kill();
    }
  }
}
