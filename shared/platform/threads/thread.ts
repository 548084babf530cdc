import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '#shared/errors.ts';
import { type JobName, jobs } from './jobs.ts';

/** The code of a pool thread: runs one job at a time, as `threads.ts` sends them. */
const label = new Uint16Array((workerData as { label: SharedArrayBuffer }).label);

/** Records what the job is doing, for the error if it is terminated. */
function report(what: string): void {
  const length = Math.min(what.length, label.length - 1);
  for (let at = 0; at < length; at += 1) label[1 + at] = what.charCodeAt(at);
  label[0] = length;
}

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

lowerPriority();
parentPort?.on('message', ({ name, input }: { name: JobName; input: never }) => {
  void jobs[name](input, report).then(
    (output: unknown) => parentPort?.postMessage({ output }),
    (error: unknown) => parentPort?.postMessage({ problem: messageOf(error) }),
  );
});
parentPort?.postMessage('ready');
