import assert from 'node:assert/strict';
import type { DryRunDeps } from '#shared/operations/workflows/dry-run.ts';
import { z } from 'zod';
import { useStage } from './stage.ts';
import { setting } from './settings.ts';
import { createTestDatabase, type TestDatabase } from './database.ts';
import { testTemporal } from './temporal.ts';
import type { Actor } from '#shared/people/actor.ts';
import type { EdgeCondition, GraphInput } from '#shared/contract/workflows/graph.ts';
import { type Run, runSchema } from '#shared/contract/runs/run.ts';
import type { StreamFrame } from '#shared/contract/runs/stream.ts';
import { readFrames } from '#shared/db/runs/frames.ts';
import { connectDatabase, type Pool, sql } from '#shared/db/pool.ts';
import { readRun, readRunStatus } from '#shared/db/runs/runs.ts';
import { createWorkflow } from '#shared/db/workflows/workflows.ts';
import { ensureDefaultWorkspace, readDefaultOwner } from '#shared/db/people/workspaces.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import {
  cancelRun,
  decideGate,
  resumeRun,
  type RunDeps,
  triggerRun,
} from '#shared/operations/runs/runs.ts';
import { loadConfig } from '#shared/platform/config.ts';
import { createSdkLogger } from '#worker/sdk-logger.ts';
import { Runtime } from '@temporalio/worker';
import { createLogger } from '#shared/platform/logger.ts';
import { connectTemporal, registerSearchAttributes } from '#shared/platform/temporal.ts';
import { createWorker, type RunningWorker } from '#worker/create-worker.ts';
import type { JsonObject } from '#shared/json.ts';
import { patiently } from './patience.ts';

type Decision = Omit<Parameters<typeof decideGate>[1], 'actor' | 'runId'>;

export interface Engine {
  deps: RunDeps & DryRunDeps;
  db: Pool;
  actor: Actor;
  databaseUrl: string;
  env: Record<string, string>;
  startWorker(): Promise<RunningWorker>;
  /** Creates a workflow and returns its id. */
  define(graph: GraphInput, name?: string): Promise<string>;
  trigger(workflowId: string, input?: JsonObject, key?: string): Promise<string>;
  /** Creates a workflow, and returns the id of a run of it. */
  start(graph: GraphInput, input?: JsonObject): Promise<string>;
  run(runId: string): Promise<Run>;
  /** Waits until the run is in one of these states, at most `timeoutMs`. */
  until(runId: string, statuses: readonly Run['status'][], timeoutMs?: number): Promise<Run>;
  /** Waits until the run has ended. */
  ended(runId: string): Promise<Run>;
  /** Decides a gate, cancels or resumes, each as the owner. */
  decide(runId: string, decision: Decision): ReturnType<typeof decideGate>;
  approve(runId: string, decision?: Omit<Decision, 'approved'>): ReturnType<typeof decideGate>;
  cancel(runId: string): ReturnType<typeof cancelRun>;
  resume(runId: string): ReturnType<typeof resumeRun>;
  frames(runId: string): Promise<StreamFrame[]>;
  /** Waits until the outbox has no rows of a run except alerts: a row is removed soon after its dispatch. */
  carriedOut(runId: string): Promise<void>;
  close(): Promise<void>;
}

/** The run engine on a separate database and task queues, with a worker in this process by default. */
export async function startEngine(
  options: { worker?: boolean; env?: Record<string, string>; database?: TestDatabase } = {},
): Promise<Engine> {
  const database = options.database ?? (await createTestDatabase());
  const { address, taskQueuePrefix } = testTemporal();
  const env = {
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_UI_URL: 'http://127.0.0.1:8233',
    TASK_QUEUE_PREFIX: taskQueuePrefix,
    EGRESS_ALLOW: '127.0.0.0/8',
    LOG_LEVEL: process.env['TEST_LOG_LEVEL'] ?? 'silent',
    RECONCILE_INTERVAL_SECONDS: '0.3',
    RECONCILE_GRACE_SECONDS: '1',
    // Many tests kill a worker and wait until another continues its runs.
    WORKFLOW_TASK_TIMEOUT_SECONDS: '3',
    // Workers in the way of a test stop at once.
    SHUTDOWN_GRACE_SECONDS: '1',
    WORKFLOW_BUNDLE: setting('WORKFLOW_BUNDLE'),
    ...options.env,
  };
  const config = loadConfig(env);
  const log = createLogger({ name: 'test', level: config.logLevel });
  quietRuntime();
  const db = await connectDatabase(database.url, { maxPoolSize: 20 });
  const temporal = connectTemporal(config, db);
  await registerSearchAttributes(temporal, log);
  await ensureDefaultWorkspace(db, { ownerEmail: config.auth.ownerEmail });
  const actor = await readDefaultOwner(db);
  if (actor === undefined) throw new Error('no default owner');
  const deps = { db, temporal, log, config, findRunnable, sealer: undefined };
  const workers: RunningWorker[] = [];
  const startWorker = async (): Promise<RunningWorker> => {
    const bundle = { codePath: setting('WORKFLOW_BUNDLE') };
    const worker = await createWorker({ config, db, log, temporal, bundle });
    workers.push(worker);
    return worker;
  };
  if (options.worker !== false) await startWorker();

  const run = async (runId: string): Promise<Run> => {
    const found = await readRun(db, {
      workspaceId: actor.workspaceId,
      runId,
      temporalUiUrl: config.temporal.uiUrl,
      temporalNamespace: temporal.namespace,
    });
    if (found === undefined) throw new Error(`no run ${runId}`);
    return found;
  };

  const define: Engine['define'] = (graph, name = 'test') =>
    createWorkflow(db, actor, { name, graph, description: '' } as never);
  const trigger: Engine['trigger'] = async (workflowId, input = {}, key) => {
    const { runId, dispatched } = await triggerRun(deps, {
      actor,
      workflowId,
      trigger: 'manual',
      input,
      ...(key === undefined ? {} : { idempotencyKey: key }),
    });
    await dispatched;
    return runId;
  };

  const until: Engine['until'] = async (runId, statuses, timeoutMs = 20_000) => {
    const pause = growingPause();
    const end = Date.now() + patiently(timeoutMs);
    for (;;) {
      // The full run is read only if the status matches; long runs are expensive to read.
      const status = await readRunStatus(db, { workspaceId: actor.workspaceId, runId });
      if (status === undefined || statuses.includes(status)) {
        const rested = await run(runId);
        if (statuses.includes(rested.status)) {
          // Its route sends the record unvalidated, so the record must match the contract exactly.
          assert.deepEqual(JSON.parse(JSON.stringify(rested)), runSchema.parse(rested));
          return rested;
        }
      }
      if (Date.now() > end) {
        const current = await run(runId);
        throw new Error(
          `run ${runId} is ${current.status} after ${timeoutMs} ms, not ${statuses.join(' or ')}: the last of ${current.steps.length} steps: ${JSON.stringify(current.steps.slice(-20).map((step) => [step.step_key, step.status, step.error]))}`,
        );
      }
      await pause();
    }
  };

  return {
    deps,
    db,
    actor,
    env,
    databaseUrl: database.url,
    startWorker,
    run,
    define,
    trigger,
    start: async (graph, input) => trigger(await define(graph), input),
    until,
    ended: (runId) => until(runId, ['success', 'failed']),
    decide: (runId, decision) => decideGate(deps, { actor, runId, ...decision }),
    approve: (runId, decision = {}) =>
      decideGate(deps, { actor, runId, approved: true, ...decision }),
    cancel: (runId) => cancelRun(deps, { actor, runId }),
    resume: (runId) => resumeRun(deps, { actor, runId }),
    frames: async (runId) => {
      const rows = await readFrames(db, [{ runId, after: 0 }]);
      return rows.map((row) => row.frame);
    },
    carriedOut: (runId) =>
      eventually(
        async () =>
          !(await db.exists(sql.type(z.object({}))`
            SELECT FROM outbox WHERE run_id = ${runId} AND kind <> 'alert'`)),
      ),
    close: async () => {
      await Promise.all(workers.map((worker) => worker.stop()));
      await temporal.close();
      await db.end();
      await database.drop();
    },
  };
}

/** The same for all tests of a file. */
export const useEngine = (options?: Parameters<typeof startEngine>[0]): Engine =>
  useStage(() => startEngine(options));

let installed = false;

/** The SDK has one logger per process. Its errors are shown at any level. */
export function quietRuntime(): void {
  if (installed) return;
  const log = createLogger({ name: 'sdk', level: process.env['TEST_LOG_LEVEL'] ?? 'silent' });
  Runtime.install({ logger: createSdkLogger(log), shutdownSignals: [] });
  installed = true;
}

/** A `tool` node that responds at once. */
export const echo = (id: string, expression = `'${id}'`) =>
  ({ id, kind: 'tool', tool_name: 'json_transform', params: { expression } }) as const;

/** An `agent` node with the mock model. */
export const mock = (id: string, behaviour: JsonObject = {}, rest: JsonObject = {}) =>
  ({ id, kind: 'agent', mock: behaviour, ...rest }) as never;

export const edge = (source: string, target: string, condition_value?: EdgeCondition) => ({
  source,
  target,
  ...(condition_value === undefined ? {} : { condition_value }),
});

/** A graph of nodes that run one after the other. */
export const chain = (...nodes: { id: string; [field: string]: unknown }[]): GraphInput => ({
  nodes: nodes as never,
  edges: nodes.slice(1).map((node, at) => edge(nodes[at]!.id, node.id)),
});

/** Waits until the condition holds; throws after `timeoutMs`, or later on a busy machine. */
export async function eventually(
  holds: () => boolean | Promise<boolean>,
  timeoutMs = 10_000,
): Promise<void> {
  const pause = growingPause();
  const end = Date.now() + patiently(timeoutMs);
  while (!(await holds())) {
    if (Date.now() > end) {
      throw new Error(`did not come to hold within ${timeoutMs} ms: ${String(holds)}`);
    }
    await pause();
  }
}

/**
 * The pause between polls: a twentieth of the time waited so far, from 10 to 250 ms. Fast results are seen fast, and
 * long waits leave the processors to other tests.
 */
function growingPause(): () => Promise<void> {
  const started = performance.now();
  return () => {
    const waited = performance.now() - started;
    const ms = Math.min(250, Math.max(10, waited / 20));
    return new Promise((resolve) => setTimeout(resolve, ms));
  };
}
