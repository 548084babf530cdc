import { messageOf } from '#scripts/stack/output.ts';
import { createProcesses, type Processes } from './processes.ts';

/**
 * Runs a benchmark and ends this process with the exit code that `work` resolves with, or with 1 and the message of its
 * error. Before that, and also after Ctrl-C, it stops what `work` started. After Ctrl-C, the result of `work` is
 * ignored.
 */
export async function runBenchmark(
  work: (processes: Processes) => Promise<number>,
): Promise<never> {
  try {
    process.exit(await supervised(work));
  } catch (error) {
    console.error(messageOf(error));
    process.exit(1);
  }
}

async function supervised(work: (processes: Processes) => Promise<number>): Promise<number> {
  const processes = await createProcesses();
  process.on('exit', () => processes.killAll());
  let leaving: Promise<never> | undefined;
  const leave = async (code: number): Promise<never> => {
    console.log('\nStopping ...');
    await processes.stopAll();
    process.exit(code);
  };
  for (const [signal, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
    ['SIGHUP', 129],
  ] as const) {
    // npm forwards Ctrl-C from the terminal, so the signal arrives twice.
    process.on(signal, () => void (leaving ??= leave(code)));
  }
  try {
    return await work(processes);
  } finally {
    await (leaving ?? processes.stopAll());
  }
}
