import { basename } from 'node:path';
import workerThreads, { Worker } from 'node:worker_threads';
import { moduleUrl } from '#shared/platform/module-url.ts';

/** What a workflow thread gets. */
export interface WorkflowThreadData {
  /** The SDK's entry point. */
  script: string;
  /** The number of beginnings and ends of calls into workflow code: odd during a call. */
  calls: Int32Array;
}

const SDK_SCRIPT = 'workflow-worker-thread.js';
const entry = moduleUrl('./workflow-thread.ts', import.meta.url);
const CHECK_MS = 1_000;
/**
 * A call that lasts this many checks is stuck. It counts checks instead of time, because a process can be suspended.
 */
const STUCK_CHECKS = 10;

let stuck: Promise<never> | undefined;

/**
 * Makes the SDK start its workflow threads with our entry point. Call it once per process, before a worker is created.
 * The SDK limits each call into workflow code with a Node timer that starts and ends an operating system thread: twenty
 * times in a run of three steps, for a tenth of its duration. Here, a single timer of this thread watches all calls of
 * a workflow thread.
 *
 * The promise rejects when a call does not return. Then the process must end, because nothing else stops the thread.
 */
export function watchWorkflowThreads(): Promise<never> {
  stuck ??= replaceThreads();
  return stuck;
}

function replaceThreads(): Promise<never> {
  const { promise, reject } = Promise.withResolvers<never>();
  // After the last worker has stopped, nothing handles its rejection.
  promise.catch(() => undefined);
  workerThreads.Worker = new Proxy(Worker, {
    construct: (target, args: ConstructorParameters<typeof Worker>) => {
      const [script] = args;
      if (basename(String(script)) !== SDK_SCRIPT) return new target(...args);
      return startWatched(String(script), reject);
    },
  });
  return promise;
}

function startWatched(script: string, onStuck: (error: Error) => void): Worker {
  const calls = new Int32Array(new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT));
  const thread = new Worker(entry, { workerData: { script, calls } satisfies WorkflowThreadData });
  let before = 0;
  let checks = 0;
  const timer = setInterval(() => {
    const now = Atomics.load(calls, 0);
    const isInside = now % 2 !== 0;
    checks = isInside && now === before ? checks + 1 : 0;
    before = now;
    if (checks < STUCK_CHECKS) return;
    clearInterval(timer);
    const seconds = (STUCK_CHECKS * CHECK_MS) / 1_000;
    onStuck(new Error(`workflow code has not returned for ${seconds} s`));
  }, CHECK_MS);
  timer.unref();
  thread.once('exit', () => clearInterval(timer));
  return thread;
}
