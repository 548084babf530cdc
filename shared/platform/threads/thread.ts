import { readlinkSync } from 'node:fs';
import { constants, setPriority } from 'node:os';
import { parentPort, workerData } from 'node:worker_threads';
import { messageOf } from '../../errors.ts';
import { type JobName, jobs } from './jobs.ts';

/** What a thread of the pool runs: one job after the other, as `work-threads` hands them out. */
const label = new Uint16Array((workerData as { label: SharedArrayBuffer }).label);

/** Says what the job is at, for the error when it is ended there. */
function tell(what: string): void {
  const length = Math.min(what.length, label.length - 1);
  for (let at = 0; at < length; at += 1) label[1 + at] = what.charCodeAt(at);
  label[0] = length;
}

/** Niceness of the thread: a tenth of a processor's time when everything else wants it too. */
const NICENESS = constants.priority.PRIORITY_BELOW_NORMAL;

/** Whoever waits for a request or a workflow task goes first. Linux can do it for one thread; elsewhere it stays. */
function giveWay(): void {
  try {
    const thread = Number(readlinkSync('/proc/thread-self').split('/').at(-1));
    setPriority(thread, NICENESS);
  } catch {
    // Not on Linux.
  }
}

giveWay();
parentPort?.on('message', ({ name, input }: { name: JobName; input: never }) => {
  void jobs[name](input, tell).then(
    (output: unknown) => parentPort?.postMessage({ output }),
    (error: unknown) => parentPort?.postMessage({ problem: messageOf(error) }),
  );
});
parentPort?.postMessage('ready');
