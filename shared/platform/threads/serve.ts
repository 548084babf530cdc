import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '#shared/errors.ts';
import type { Answer } from './pool.ts';

const label = new Uint16Array((workerData as { label: SharedArrayBuffer }).label);

/** Records what the job is doing, for the error if it is terminated. */
function report(what: string): void {
  label[0] = 0;
  append(what);
}

/** Adds to what was reported. Text beyond the pool's length is left out. */
export function append(text: string): void {
  const from = label[0] ?? 0;
  const length = Math.min(text.length, label.length - 1 - from);
  for (let at = 0; at < length; at += 1) label[1 + from + at] = text.charCodeAt(at);
  label[0] = from + length;
}

/** What was reported of the present job. */
export const reported = (): string =>
  Buffer.from(label.slice(1, 1 + (label[0] ?? 0)).buffer)
    .toString('utf16le')
    .toWellFormed();

/** The niceness of the thread: under load, it gets a tenth of a processor's time. */
const NICENESS = constants.priority.PRIORITY_BELOW_NORMAL;

/** Requests and workflow tasks come first. Only Linux supports a priority per thread. */
function lowerPriority(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    setPriority(thread, NICENESS);
  } catch {
    // Fails on other systems than Linux.
  }
}

/** Serves one job at a time, as the pool sends them. `isLast`: whether the thread must not be used again. */
export function serveJobs(
  jobs: Record<string, (input: never, say: typeof report) => Promise<unknown>>,
  isLast: () => boolean = () => false,
): void {
  lowerPriority();
  const answer = (what: Answer): void =>
    parentPort?.postMessage(isLast() ? { ...what, last: true } : what);
  parentPort?.on('message', ({ name, input }: { name: string; input: never }) => {
    void jobs[name]?.(input, report).then(
      (output) => answer({ output }),
      (error: unknown) => answer({ problem: messageOf(error) }),
    );
  });
  parentPort?.postMessage('ready');
}
