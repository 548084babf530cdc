import { createRequire } from 'node:module';
import { promiseHooks } from 'node:v8';
import { Script } from 'node:vm';
import { workerData } from 'node:worker_threads';
import type { WorkflowThreadData } from './workflow-threads.ts';

// The entry point of a thread that executes workflow code; see `watchWorkflowThreads`.

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

// The SDK stores a formatted stack trace for every promise of workflow code, for the query `__stack_trace`. All runs
// share one interpreter, so the traces say nothing about a graph, and they take half of this thread's time. Without
// this hook, the SDK collects none, and its response to the query says so. Its warning on the console is discarded.
promiseHooks.createHook = () => {
  const { warn } = console;
  Reflect.set(console, 'warn', () => Reflect.set(console, 'warn', warn));
  throw new Error('Stack traces of workflow code are not collected');
};

createRequire(import.meta.url)(script);
