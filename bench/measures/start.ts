import { join } from 'node:path';
import { describeExit, startChild } from '#scripts/stack/children.ts';
import { claimFolder } from '#scripts/stack/claim.ts';
import { cleanEnvironment } from '#scripts/stack/environment.ts';
import { projectDir, startFolder, type Processes } from '#bench/processes.ts';
import { atMost, compare, figure, type Result } from '#bench/result.ts';
import { pause } from '#bench/statistics.ts';

const warmStarts = 3;
const readyTimeoutMs = 120_000;
const stopMs = 10_000;

/** `npm start` from the command to its banner, on a data folder that an earlier start has filled. */
export async function start(processes: Processes): Promise<Result[]> {
  const dataDir = join(processes.folder, startFolder);
  const cold = await startOnce(processes, dataDir);
  const warm: number[] = [];
  for (let turn = 0; turn < warmStarts; turn += 1) warm.push(await startOnce(processes, dataDir));
  return [
    compare({
      measure: 'warm npm start to ready',
      unit: 's',
      ours: figure(warm),
      bound: atMost(5),
      notes: [`the first start, with empty databases and examples to seed: ${cold.toFixed(1)} s`],
    }),
  ];
}

async function startOnce(processes: Processes, dataDir: string): Promise<number> {
  let ready = (): void => undefined;
  const banner = new Promise<void>((resolve) => {
    ready = resolve;
  });
  const started = performance.now();
  const child = await startChild({
    name: 'npm-start',
    command: 'npm',
    args: ['start'],
    cwd: projectDir,
    // 0: any free port.
    env: {
      ...cleanEnvironment(),
      DATA_DIR: dataDir,
      API_PORT: '0',
      POSTGRES_PORT: '0',
      TEMPORAL_PORT: '0',
      TEMPORAL_UI_PORT: '0',
    },
    logFile: join(processes.folder, 'logs', 'npm-start.log'),
    onLine: (line) => {
      if (line.includes('Ready in')) ready();
    },
  });
  const stop = async (): Promise<void> => {
    // Signals the whole group at once, as a terminal does: npm alone would not forward the signal.
    if (child.exit === undefined) process.kill(-child.pid, 'SIGINT');
    await Promise.race([child.exited, pause(stopMs)]);
    await child.stop([]);
    // If it died early, the folder records the servers it left behind.
    (await claimFolder(dataDir)).release();
  };
  processes.keep(child, stop);
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('npm start was not ready in time')), readyTimeoutMs);
  });
  const ended = child.exited.then((exit): never => {
    throw new Error([`npm start ended with ${describeExit(exit)}`, ...child.tail(10)].join(' | '));
  });
  try {
    await Promise.race([banner, late, ended]);
    return (performance.now() - started) / 1_000;
  } finally {
    clearTimeout(timer);
    ended.catch(() => undefined);
    await processes.stop(child);
  }
}
