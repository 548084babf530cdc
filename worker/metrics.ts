import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import { attemptOutcomes, type StepMetrics } from '#activities/step-context.ts';
import type { Pool } from '#shared/db/pool.ts';
import { countOpenRuns } from '#shared/db/runs/open-runs.ts';
import { isRebound } from '#shared/platform/egress/known-host.ts';
import type { ReconcilerMetrics } from '#shared/operations/runs/reconcile.ts';
import { taskFailures } from '#shared/operations/runs/stuck-tasks.ts';
import type { Logger } from '#shared/platform/logger.ts';

export interface WorkerMetrics {
  contentType: string;
  /** All metrics in the text format, with current values from the database, or without them if it cannot be reached. */
  read(): Promise<string>;
  steps: StepMetrics;
  reconciler: ReconcilerMetrics;
}

/** Metrics that a worker counts itself, and metrics that it reads from the database on request. */
export function createWorkerMetrics(db: Pool, log: Logger): WorkerMetrics {
  const registry = new Registry();
  collectDefaultMetrics({ register: registry });
  const registers = [registry];
  const durations = new Histogram({
    name: 'workflow_step_duration_seconds',
    help: 'Duration of one attempt at a step, by node kind and outcome',
    labelNames: ['kind', 'outcome'],
    buckets: [0.005, 0.025, 0.1, 0.5, 1, 5, 15, 60, 300, 900],
    registers,
  });
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
  const mismatches = new Counter({
    name: 'workflow_approval_mismatches_total',
    help: 'Steps that sent nothing, because it would not have been what a gate had shown',
    registers,
  });
  // A counter whose first sample is 1 shows no increase, so an alert would miss the first event.
  for (const cause of taskFailures) stuckTasks.inc({ cause }, 0);
  for (const kind of ['agent', 'tool']) {
    for (const outcome of attemptOutcomes) durations.zero({ kind, outcome });
  }
  const readState = createStateGauges(registers, db, log);
  return {
    contentType: registry.contentType,
    reconciler: {
      settled: () => settledByReconciler.inc(),
      stuck: (cause) => stuckTasks.inc({ cause }),
    },
    read: async () => {
      await readState();
      return registry.metrics();
    },
    steps: {
      ended: (kind, outcome, seconds) => durations.observe({ kind, outcome }, seconds),
      mismatched: () => mismatches.inc(),
    },
  };
}

/**
 * Gauges for values in the database. The result reads them again. While the database cannot be reached, it removes
 * them, because old figures would look like current ones.
 */
function createStateGauges(registers: Registry[], db: Pool, log: Logger): () => Promise<void> {
  const readable = new Gauge({
    name: 'database_reachable',
    help: 'Whether the figures about runs and the outbox could be read: 1 or 0',
    registers,
  });
  const open = new Gauge({
    name: 'workflow_runs_open',
    help: 'Runs that have not ended, by status',
    labelNames: ['status'],
    registers,
  });
  const waiting = new Gauge({
    name: 'outbox_rows',
    help: 'Outbox entries for Temporal that are not confirmed yet',
    registers,
  });
  const oldest = new Gauge({
    name: 'outbox_oldest_seconds',
    help: 'Age of the oldest unconfirmed outbox entry',
    registers,
  });
  return async () => {
    try {
      const state = await countOpenRuns(db);
      for (const status of ['pending', 'running', 'paused']) open.set({ status }, 0);
      for (const row of state.open) open.set({ status: row.status }, row.runs);
      waiting.set(state.outbox);
      oldest.set(state.oldest_seconds);
      readable.set(1);
    } catch (error) {
      log.warn({ err: error }, 'could not read the figures about runs');
      open.reset();
      waiting.set(NaN);
      oldest.set(NaN);
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
