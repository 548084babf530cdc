import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Counter, Gauge, Histogram, type Registry } from 'prom-client';
import { attemptOutcomes, type StepMetrics } from '#activities/step-context.ts';
import type { Pool } from '#shared/db/pool.ts';
import { countOpenRuns } from '#shared/db/runs/open-runs.ts';
import { isRebound } from '#shared/platform/egress/known-host.ts';
import type { ReconcilerMetrics } from '#shared/operations/runs/reconcile.ts';
import { createRegistry } from '#shared/platform/process-metrics.ts';
import { taskFailures } from '#shared/operations/runs/stuck-tasks.ts';
import type { Logger } from '#shared/platform/logger.ts';

export interface WorkerMetrics {
  contentType: string;
  /** All metrics in the text format, with current values from the database, or without them if it cannot be reached. */
  read(): Promise<string>;
  steps: StepMetrics;
  reconciler: ReconcilerMetrics;
  /** A run got a slot after it had waited in a queue. */
  queueWaited: (seconds: number) => void;
}

const createQueueWaits = (registers: Registry[]): Histogram =>
  new Histogram({
    name: 'workflow_queue_wait_seconds',
    help: 'How long runs have waited because of a limit of their workflow before they started',
    buckets: [0.05, 0.25, 1, 5, 15, 60, 300, 900, 3_600, 21_600, 86_400],
    registers,
  });

/** Metrics that a worker counts itself, and metrics that it reads from the database on request. */
export function createWorkerMetrics(db: Pool, log: Logger): WorkerMetrics {
  const registry = createRegistry();
  const registers = [registry];
  const settledByReconciler = new Counter({
    name: 'workflow_runs_settled_without_execution_total',
    help: 'Runs whose Temporal execution was missing',
    registers,
  });
  const stuckTasks = new Counter({
    name: 'workflow_tasks_stuck_total',
    help: 'Checks of executions whose workflow task fails repeatedly, by cause',
    labelNames: ['cause'],
    registers,
  });
  const queueWaits = createQueueWaits(registers);
  // A counter whose first sample is 1 shows no increase, so an alert would miss the first event.
  for (const cause of taskFailures) stuckTasks.inc({ cause }, 0);
  const readState = createStateGauges(registers, db, log);
  return {
    contentType: registry.contentType,
    reconciler: {
      settled: () => settledByReconciler.inc(),
      stuck: (cause) => stuckTasks.inc({ cause }),
    },
    queueWaited: (seconds) => queueWaits.observe(seconds),
    read: async () => {
      await readState();
      return registry.metrics();
    },
    steps: createStepMetrics(registers),
  };
}

/** What steps report when they end, wait or are stopped. */
function createStepMetrics(registers: Registry[]): StepMetrics {
  const durations = new Histogram({
    name: 'workflow_step_duration_seconds',
    help: 'Duration of one attempt at a step, by node kind and outcome',
    labelNames: ['kind', 'outcome'],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 900],
    registers,
  });
  const mismatches = new Counter({
    name: 'workflow_approval_mismatches_total',
    help: 'Steps that sent nothing, because it would not have been what a gate had shown',
    registers,
  });
  const waits = new Histogram({
    name: 'workflow_call_wait_seconds',
    help: 'How long steps waited for a free call of their tool or model before they began',
    buckets: [0.1, 0.5, 1, 5, 15, 60, 300, 900, 3_600],
    registers,
  });
  const exceeded = new Counter({
    name: 'workflow_code_exceeded_total',
    help: 'Executions of code that were stopped at their processor time or memory',
    labelNames: ['resource'],
    registers,
  });
  const ended = new Histogram({
    name: 'workflow_wait_seconds',
    help: 'How long steps waited for a time, an event or a callback, by how it ended',
    labelNames: ['kind', 'outcome'],
    buckets: [1, 15, 60, 900, 3_600, 21_600, 86_400, 259_200, 604_800, 2_592_000],
    registers,
  });
  for (const resource of ['time', 'memory']) exceeded.inc({ resource }, 0);
  for (const kind of ['agent', 'tool', 'code']) {
    for (const outcome of attemptOutcomes) durations.zero({ kind, outcome });
  }
  for (const kind of ['time', 'event', 'callback']) {
    ended.zero({ kind, outcome: 'came' });
    if (kind !== 'time') ended.zero({ kind, outcome: 'late' });
  }
  return {
    ended: (kind, outcome, seconds) => durations.observe({ kind, outcome }, seconds),
    mismatched: () => mismatches.inc(),
    codeExceeded: (resource) => exceeded.inc({ resource }),
    waited: ({ kind, outcome, seconds }) => ended.observe({ kind, outcome }, seconds),
    waitedForCall: (seconds) => waits.observe(seconds),
  };
}

/**
 * Gauges for values in the database. The result reads them again. While the database cannot be reached, it removes
 * them, because old figures would look like current ones.
 */
function createStateGauges(registers: Registry[], db: Pool, log: Logger): () => Promise<void> {
  const gauge = (name: string, help: string) => new Gauge({ name, help, registers });
  const readable = gauge(
    'database_reachable',
    'Whether the figures about runs and the outbox could be read: 1 or 0',
  );
  const open = new Gauge({
    name: 'workflow_runs_open',
    help: 'Runs that have not ended, by status',
    labelNames: ['status'],
    registers,
  });
  const waiting = gauge('outbox_rows', 'Outbox entries for Temporal that are not confirmed yet');
  const oldest = gauge('outbox_oldest_seconds', 'Age of the oldest unconfirmed outbox entry');
  const calls = new Gauge({
    name: 'workflow_limited_calls',
    help: 'Calls that limits of the policies count: in flight, and steps that wait for one',
    labelNames: ['state'],
    registers,
  });
  const queued = gauge(
    'workflow_runs_queued',
    'Runs that wait because of a limit of their workflow',
  );
  const slots = gauge('workflow_slots_in_use', 'Slots of limits that runs hold');
  const due = gauge(
    'workflow_waits_due',
    'Waiting steps whose time is up, or for which something came, and that are not woken yet',
  );
  return async () => {
    try {
      const state = await countOpenRuns(db);
      for (const status of ['pending', 'running', 'paused']) open.set({ status }, 0);
      for (const row of state.open) open.set({ status: row.status }, row.runs);
      waiting.set(state.outbox);
      oldest.set(state.oldest_seconds);
      calls.set({ state: 'in_flight' }, state.calls);
      calls.set({ state: 'waiting' }, state.call_waits);
      queued.set(state.queued);
      slots.set(state.slots);
      due.set(state.waits_due);
      readable.set(1);
    } catch (error) {
      log.warn({ err: error }, 'could not read the figures about runs');
      open.reset();
      calls.reset();
      waiting.set(NaN);
      oldest.set(NaN);
      queued.set(NaN);
      slots.set(NaN);
      due.set(NaN);
      readable.set(0);
    }
  };
}

export interface MetricsServer {
  port: number;
  close(): Promise<void>;
}

/**
 * Serves `GET /metrics`: the service's own, followed by what Temporal's SDK exports at `sdkUrl`; and `GET /health`,
 * which is 200 as long as the process responds. Port 0 means a free port. Responds with 404 to requests that look like
 * DNS rebinding.
 */
export async function serveMetrics(
  options: { host: string; port: number; sdkUrl: string; publicUrl: string },
  metrics: WorkerMetrics,
  log: Logger,
): Promise<MetricsServer> {
  const server: Server = createServer((request, response) => {
    if (isRebound(request, options.publicUrl)) {
      response.writeHead(404).end();
      return;
    }
    if (request.url === '/health') {
      response.writeHead(200, { 'content-type': 'application/json' }).end('{"status":"ok"}');
      return;
    }
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    exposition(metrics, options.sdkUrl).then(
      (body) => response.writeHead(200, { 'content-type': metrics.contentType }).end(body),
      (error: unknown) => {
        log.warn({ err: error }, 'could not collect metrics');
        response.writeHead(503).end();
      },
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port, options.host, resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

async function exposition(metrics: WorkerMetrics, sdkUrl: string): Promise<string> {
  const [ours, sdk] = await Promise.all([
    metrics.read(),
    fetch(sdkUrl, { signal: AbortSignal.timeout(2_000) }).then((answer) => answer.text()),
  ]);
  return `${ours}\n${sdk}`;
}
