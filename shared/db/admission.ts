import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Actor } from '../actor.ts';
import type { Graph } from '../contract/graph.ts';
import { AppError, notFound } from '../errors.ts';
import { canonicalJson } from '../graph/diff.ts';
import type { JsonObject } from '../json.ts';
import { newId } from '../platform/ids.ts';
import { LEASE_MS, type OutboxRow } from './outbox.ts';
import { type Pool, sql, type Tx } from './pool.ts';

export const triggers = ['manual', 'webhook', 'mcp', 'schedule'] as const;
export type Trigger = (typeof triggers)[number];

export interface RunRequest {
  actor: Actor;
  workflowId: string;
  trigger: Trigger;
  input: JsonObject;
  /** At most 255 characters; the same key with the same input gives the same run for as long as it is kept. */
  idempotencyKey?: string;
  /** Defaults to `run` on the workflow. Other surfaces name their own act (`schedule_run`, `webhook_run`). */
  audit?: { action: string; details: JsonObject };
}

export interface AdmittedRun {
  runId: string;
  workspaceId: string;
  workflowId: string;
  workflowName: string;
  workflowVersion: number;
  trigger: Trigger;
  actorName: string | null;
  graph: Graph;
  input: JsonObject;
}

export type Admission =
  | { outcome: 'admitted'; run: AdmittedRun; outbox: OutboxRow }
  | { outcome: 'replayed'; runId: string };

/** The graph as it will run. Throws AppError `graph_invalid` when it cannot run in this workspace. */
export type CheckRunnable = (
  tx: Tx,
  workflow: { workspaceId: string; workflowId: string; version: number; graph: unknown },
) => Promise<Graph>;

const workflowRow = z.object({
  name: z.string(),
  version: z.number(),
  run_cap_micros: z.number().nullable(),
  graph: z.unknown(),
});

/**
 * The one way a run comes to be, whoever triggers it. In one transaction and in this order: replay of the
 * idempotency key, monthly quota, budgets, validity of the graph; then the run pinned to the workflow's current
 * version, its audit entry and the promise to start it. A refusal leaves nothing behind.
 *
 * Throws AppError: `not_found`, `idempotency_mismatch`, `graph_invalid`.
 */
export async function admitRun(
  db: Pool,
  request: RunRequest,
  checkRunnable: CheckRunnable,
): Promise<Admission> {
  const runId = newId('run');
  return db.transaction(async (tx) => {
    const workflow = await tx.maybeOne(sql.prepared('admission_workflow', workflowRow)`
      SELECT w.name, w.version, w.run_cap_micros, v.graph
      FROM workflows w JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = w.version
      WHERE w.id = ${request.workflowId} AND w.workspace_id = ${request.actor.workspaceId}
    `);
    if (workflow === null) throw notFound('Workflow');
    const earlier = await claimKey(tx, request, runId);
    if (earlier !== undefined) return { outcome: 'replayed', runId: earlier };
    const graph = await checkRunnable(tx, {
      workspaceId: request.actor.workspaceId,
      workflowId: request.workflowId,
      version: workflow.version,
      graph: workflow.graph,
    });
    const outbox = await insertRun(tx, request, { runId, ...workflow });
    return {
      outcome: 'admitted',
      outbox,
      run: {
        runId,
        workspaceId: request.actor.workspaceId,
        workflowId: request.workflowId,
        workflowName: workflow.name,
        workflowVersion: workflow.version,
        trigger: request.trigger,
        actorName: request.actor.name,
        graph,
        input: request.input,
      },
    };
  });
}

const claimRow = z.object({ run_id: z.string(), fingerprint: z.string() });

/**
 * Claims the idempotency key for this run, or returns the run that has it. A claim made at the same moment by
 * another transaction is waited for: its commit makes this a replay, its rollback lets this one through.
 */
async function claimKey(tx: Tx, request: RunRequest, runId: string): Promise<string | undefined> {
  if (request.idempotencyKey === undefined) return undefined;
  const fingerprint = createHash('sha256').update(canonicalJson(request.input)).digest('hex');
  const { workspaceId } = request.actor;
  const claimed = await tx.query(sql.prepared('admission_claim_key', z.object({}))`
    INSERT INTO idempotency_keys (workspace_id, workflow_id, key, fingerprint, run_id)
    VALUES (${workspaceId}, ${request.workflowId}, ${request.idempotencyKey}, decode(${fingerprint}, 'hex'), ${runId})
    ON CONFLICT DO NOTHING
  `);
  if (claimed.rowCount === 1) return undefined;
  const earlier = await tx.one(sql.prepared('admission_read_key', claimRow)`
    SELECT run_id, encode(fingerprint, 'hex') AS fingerprint FROM idempotency_keys
    WHERE workspace_id = ${workspaceId} AND workflow_id = ${request.workflowId} AND key = ${request.idempotencyKey}
  `);
  if (earlier.fingerprint !== fingerprint) {
    throw new AppError(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another input; use a new key for a new run',
    );
  }
  return earlier.run_id;
}

async function insertRun(
  tx: Tx,
  request: RunRequest,
  run: { runId: string; version: number; run_cap_micros: number | null },
): Promise<OutboxRow> {
  const { actor } = request;
  const details = { run_id: run.runId, trigger: request.trigger, ...request.audit?.details };
  const { id } = await tx.one(sql.prepared('admission_insert_run', z.object({ id: z.number() }))`
    WITH run AS (
      INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, trigger, input, cost_cap_micros, created_by,
                        created_by_name)
      VALUES (${run.runId}, ${actor.workspaceId}, ${request.workflowId}, ${run.version}, ${request.trigger},
              ${JSON.stringify(request.input)}::json, ${run.run_cap_micros}, ${actor.id}, ${actor.name})
    ), audit AS (
      INSERT INTO audit_log (id, workspace_id, action, actor_id, actor_name, target_type, target_id, details)
      VALUES (${newId('audit')}, ${actor.workspaceId}, ${request.audit?.action ?? 'run'}, ${actor.id}, ${actor.name},
              'workflow', ${request.workflowId}, ${JSON.stringify(details)}::jsonb)
    )
    INSERT INTO outbox (run_id, kind, leased_until)
    VALUES (${run.runId}, 'start', now() + ${LEASE_MS}::int * interval '1 ms')
    RETURNING id
  `);
  return { id, run_id: run.runId, kind: 'start', payload: {}, attempts: 0 };
}
