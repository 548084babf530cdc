import { fileURLToPath } from 'node:url';
import { bundleWorkflowCode, NativeConnection, Runtime, Worker } from '@temporalio/worker';
import { taskQueues } from '#shared/execution.ts';
import { loadConfig } from '#shared/platform/config.ts';
import { connectOptions } from '#shared/platform/temporal.ts';
import * as activities from './activities.ts';

// The baseline's worker: two task queues, and connection, pollers and limits as in worker/create-worker.ts. It shares
// nothing else with the service.

const silent = {
  trace: quiet,
  debug: quiet,
  info: quiet,
  log: quiet,
  warn: quiet,
  error: complain,
};
function quiet(): void {
  // Discarded.
}
function complain(message: string, meta?: object): void {
  console.error(message, meta ?? '');
}

const config = loadConfig();
const queues = taskQueues(config.temporal.taskQueuePrefix);
Runtime.install({ logger: silent, shutdownSignals: [] });
const { connection: options, namespace } = connectOptions(config);
const connection = await NativeConnection.connect(options);
const workflowBundle = await bundleWorkflowCode({
  workflowsPath: fileURLToPath(new URL('workflows.ts', import.meta.url)),
  logger: silent,
});
const shared = { connection, namespace, shutdownGraceTime: 500, shutdownForceTime: 1_000 };
const pollers = { type: 'autoscaling', minimum: 2, initial: 5, maximum: 20 } as const;
const workers = [
  await Worker.create({
    ...shared,
    taskQueue: queues.control,
    workflowBundle,
    // For local activities; the others go to the second worker.
    activities,
    maxCachedWorkflows: config.worker.maxCachedWorkflows,
    maxConcurrentWorkflowTaskExecutions: 100,
    workflowTaskPollerBehavior: pollers,
    enableNonLocalActivities: false,
    stickyQueueScheduleToStartTimeout: '2s',
  }),
  await Worker.create({
    ...shared,
    taskQueue: queues.overflow,
    activities,
    maxConcurrentActivityTaskExecutions: config.worker.maxConcurrentSteps,
    activityTaskPollerBehavior: pollers,
    maxHeartbeatThrottleInterval: 2_000,
  }),
];
const finished = Promise.all(workers.map((worker) => worker.run()));
process.send?.({ ready: true });

let stopping = false;
async function stop(): Promise<void> {
  if (stopping) return;
  stopping = true;
  for (const worker of workers) if (worker.getState() === 'RUNNING') worker.shutdown();
  await Promise.allSettled([finished]);
  await connection.close();
  process.exit(0);
}
for (const signal of ['SIGINT', 'SIGTERM', 'disconnect'] as const) {
  process.once(signal, () => void stop());
}
