import { createHash } from 'node:crypto';
import { z } from 'zod';
import type { Actor } from '../actor.ts';
import type { Graph } from '../contract/graph.ts';
import type { RunSummary } from '../contract/run.ts';
import { AppError, notFound } from '../errors.ts';
import { canonicalJson } from '../graph/diff.ts';
import type { JsonObject } from '../json.ts';
import { newId } from '../platform/ids.ts';
import { LEASE_MS, type OutboxRow } from './outbox.ts';
import { type Db, type Pool, sql } from './pool.ts';
import { summaryColumns, summaryRow, toSummary } from './run-summary.ts';

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
  | { outcome: 'admitted'; run: AdmittedRun; summary: RunSummary; outbox: OutboxRow }
  | { outcome: 'replayed'; runId: string };

/** A version of a workflow: its graph as it will run, or why it cannot. */
export interface Runnable {
  version: number;
  graph?: Graph;
  /** AppError `graph_invalid`. */
  refusal?: AppError;
}

/** The workflow's current version. It may be remembered, and out of date, unless it is asked for `anew`. */
export type FindRunnable = (
  db: Db,
  ids: { workspaceId: string; workflowId: string },
  anew: boolean,
) => Promise<Runnable | undefined>;

/**
 * The one way a run comes to be, whoever triggers it. In one statement and in this order: replay of the idempotency
 * key, validity of the graph; then the run pinned to the workflow's current version, its audit entry and the promise
 * to start it. A refusal leaves nothing behind. The graph was checked before; the statement holds only while the
 * version it was checked for is still the current one, else the workflow is looked at anew.
 *
 * Throws AppError: `not_found`, `idempotency_mismatch`, `graph_invalid`.
 */
export async function admitRun(
  db: Pool,
  request: RunRequest,
  findRunnable: FindRunnable,
): Promise<Admission> {
  const ids = { workspaceId: request.actor.workspaceId, workflowId: request.workflowId };
  for (let anew = false; ; anew = true) {
    const runnable = await findRunnable(db, ids, anew);
    if (runnable?.graph !== undefined) {
      const admitted = await insertRun(db, request, runnable.version, runnable.graph);
      if (admitted !== undefined) return admitted;
    }
    const earlier = await findReplay(db, request);
    if (earlier !== undefined) return { outcome: 'replayed', runId: earlier };
    if (!anew) continue;
    if (runnable === undefined) throw notFound('Workflow');
    if (runnable.refusal !== undefined) throw runnable.refusal;
  }
}

const fingerprintOf = (input: JsonObject): string =>
  createHash('sha256').update(canonicalJson(input)).digest('hex');

const claimRow = z.object({ run_id: z.string(), fingerprint: z.string() });

/** The run that has the request's idempotency key already. */
async function findReplay(db: Db, request: RunRequest): Promise<string | undefined> {
  if (request.idempotencyKey === undefined) return undefined;
  const earlier = await db.maybeOne(sql.prepared('admission_read_key', claimRow)`
    SELECT run_id, encode(fingerprint, 'hex') AS fingerprint FROM idempotency_keys
    WHERE workspace_id = ${request.actor.workspaceId} AND workflow_id = ${request.workflowId}
      AND key = ${request.idempotencyKey}
  `);
  if (earlier === null) return undefined;
  if (earlier.fingerprint !== fingerprintOf(request.input)) {
    throw new AppError(
      'idempotency_mismatch',
      'This Idempotency-Key was used with another input; use a new key for a new run',
    );
  }
  return earlier.run_id;
}

const admittedRow = z.object({ ...summaryRow.shape, outbox_id: z.number() });

/**
 * Undefined, with nothing written, when another version of the workflow is current, when it is gone, or when the
 * idempotency key is taken. A claim of that key by another transaction is waited for: its commit makes this a
 * replay, its rollback lets this one through.
 */
async function insertRun(
  db: Pool,
  request: RunRequest,
  version: number,
  graph: Graph,
): Promise<Admission | undefined> {
  const { actor, trigger, input, idempotencyKey: key } = request;
  const runId = newId('run');
  const details = { run_id: runId, trigger, ...request.audit?.details };
  const row = await db.maybeOne(sql.prepared('admission_insert_run', admittedRow)`
    WITH workflow AS (
      SELECT id, workspace_id, version, run_cap_micros FROM workflows
      WHERE id = ${request.workflowId} AND workspace_id = ${actor.workspaceId} AND version = ${version}
      -- A deletion that is under way is waited for.
      FOR KEY SHARE
    ), claim AS (
      INSERT INTO idempotency_keys (workspace_id, workflow_id, key, fingerprint, run_id)
      SELECT workspace_id, id, ${key ?? null}, decode(${key === undefined ? '' : fingerprintOf(input)}, 'hex'), ${runId}
      FROM workflow WHERE ${key !== undefined}
      ON CONFLICT DO NOTHING RETURNING run_id
    ), run AS (
      INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, trigger, input, cost_cap_micros, created_by,
                        created_by_name)
      SELECT ${runId}, workspace_id, id, version, ${trigger}, ${JSON.stringify(input)}::json, run_cap_micros,
             ${actor.id}, ${actor.name}
      FROM workflow WHERE ${key === undefined} OR EXISTS (SELECT FROM claim)
      RETURNING *
    ), audit AS (
      INSERT INTO audit_log (id, workspace_id, action, actor_id, actor_name, target_type, target_id, details)
      SELECT ${newId('audit')}, workspace_id, ${request.audit?.action ?? 'run'}, ${actor.id}, ${actor.name},
             'workflow', workflow_id, ${JSON.stringify(details)}::jsonb
      FROM run
    ), promise AS (
      INSERT INTO outbox (run_id, kind, leased_until)
      SELECT id, 'start', now() + ${LEASE_MS}::int * interval '1 ms' FROM run
      RETURNING id
    )
    SELECT ${summaryColumns}, (SELECT id FROM promise) AS outbox_id
    FROM run r JOIN workflows w ON w.id = r.workflow_id
  `);
  if (row === null) return undefined;
  const { outbox_id, ...summary } = row;
  return {
    outcome: 'admitted',
    summary: toSummary(summary),
    outbox: { id: outbox_id, run_id: runId, kind: 'start', payload: {}, attempts: 0 },
    run: {
      runId,
      workspaceId: row.workspace_id,
      workflowId: row.workflow_id,
      workflowName: row.workflow_name,
      workflowVersion: row.workflow_version,
      trigger,
      actorName: actor.name,
      graph,
      input,
    },
  };
}
