import { createRequire } from 'node:module';
import { Script } from 'node:vm';
import { workerData } from 'node:worker_threads';
import type { WorkflowThreadData } from './workflow-threads.ts';

// The entry point of a thread that executes workflow code: see `watchWorkflowThreads`.

const { calls, script } = workerData as WorkflowThreadData;
const runInContext = Reflect.get(Script.prototype, 'runInContext');

Script.prototype.runInContext = function (context, options = {}) {
  const { timeout, ...rest } = options;
  if (timeout === undefined) {
    return Reflect.apply(runInContext, this, [context, options]) as unknown;
  }
  Atomics.add(calls, 0, 1);
  try {
    return Reflect.apply(runInContext, this, [context, rest]) as unknown;
  } finally {
    Atomics.add(calls, 0, 1);
  }
};

createRequire(import.meta.url)(script);
