import { z } from 'zod';
import type { ConnectionAlert, RunAlertEvent, TestAlert } from '#shared/contract/alerts/alerts.ts';
import type { JsonObject } from '#shared/json.ts';
import {
  type Db,
  type FragmentSqlToken,
  sql,
  statement,
  syncCommit,
  type Tx,
} from '#shared/db/pool.ts';
import { storedJson } from '#shared/db/stored-json.ts';
import { hasAlerts } from '#shared/db/alerts/alerts.ts';

const outboxKinds = [
  'start',
  'decision',
  'cancel',
  'resume',
  'continue',
  'alert',
  'child',
  'waited',
  'job',
] as const;
export type OutboxKind = (typeof outboxKinds)[number];

export const outboxRow = z.object({
  id: z.number(),
  run_id: z.string(),
  kind: z.enum(outboxKinds),
  payload: storedJson<JsonObject>(),
  attempts: z.number(),
});
export type OutboxRow = z.infer<typeof outboxRow>;

/** Lease of a row. After it expires, another process takes over. */
export const LEASE_MS = 10_000;
const BACKOFF_CAP_MS = 30_000;

/**
 * Queues a call to Temporal in the caller's transaction. The row is leased to the caller, who dispatches it right after
 * the commit; otherwise the reconciler does.
 */
export async function enqueue(
  db: Db,
  entry: { runId: string; kind: OutboxKind; payload?: JsonObject },
): Promise<OutboxRow> {
  return db.one(statement(outboxRow)`
    INSERT INTO outbox (run_id, kind, payload, leased_until)
    VALUES (${entry.runId}, ${entry.kind}, ${JSON.stringify(entry.payload ?? {})}::json,
            now() + ${LEASE_MS}::int * interval '1 ms')
    RETURNING id, run_id, kind, payload, attempts
  `);
}

const decisionRow = z.object({ ...outboxRow.shape, first: z.boolean() });

/**
 * Queues a decision, like `enqueue`. `first`: it can be sent immediately. Other decisions do not block it: each has its
 * gate and round, so their order does not matter.
 */
export async function enqueueDecision(
  db: Db,
  { runId, payload }: { runId: string; payload: JsonObject },
): Promise<{ row: OutboxRow; first: boolean }> {
  const { first, ...row } = await db.one(statement(decisionRow)`
    INSERT INTO outbox (run_id, kind, payload, leased_until)
    VALUES (${runId}, 'decision', ${JSON.stringify(payload)}::json, now() + ${LEASE_MS}::int * interval '1 ms')
    RETURNING id, run_id, kind, payload, attempts, NOT EXISTS (
      SELECT FROM outbox WHERE run_id = ${runId} AND kind NOT IN ('alert', 'child', 'waited', 'decision')) AS first
  `);
  return { row, first };
}

/** Queues a call to Temporal that the reconciler makes within its interval. */
export async function enqueueLater(
  db: Db,
  entry: { runId: string; kind: OutboxKind },
): Promise<void> {
  await db.query(statement(z.object({}))`
    INSERT INTO outbox (run_id, kind) VALUES (${entry.runId}, ${entry.kind})
  `);
}

/**
 * Queues one alert in the transaction of the status change, so that there is one per change, if the workspace has alerts.
 * `byService`: whether the service has an address for its first workspace. The reconciler sends it within its interval. The
 * text is stored now, since the run and its workflow may be deleted or renamed before then.
 */
export async function queueAlert(
  tx: Tx,
  alert: {
    runId: string;
    event: RunAlertEvent;
    text: string;
    nodeId?: string;
    stepKey?: string;
    byService: boolean;
  },
): Promise<void> {
  await tx.query(statement(z.object({}))`
    INSERT INTO outbox (run_id, kind, payload)
    SELECT r.id, 'alert', json_strip_nulls(json_build_object(
             'run_id', r.id, 'workspace_id', r.workspace_id, 'workflow_id', w.id, 'workflow_name', w.name, 'event', ${alert.event}::text,
             'text', ${alert.text}::text, 'node_id', ${alert.nodeId ?? null}::text,
             'step_key', ${alert.stepKey ?? null}::text))
    FROM runs r JOIN workflows w ON w.id = r.workflow_id AND w.workspace_id = r.workspace_id
    WHERE r.id = ${alert.runId} AND r.rehearsal IS NULL AND ${hasAlerts(alert.byService)}
  `);
}

/** Queues the email for the member to whom a gate was assigned. `nodeId` and `stepKey` are the gate's. */
export async function queueAssignment(
  tx: Tx,
  gate: {
    runId: string;
    nodeId: string;
    stepKey: string;
    text: string;
    memberId: string;
    by: string | null;
  },
): Promise<void> {
  await tx.query(statement(z.object({}))`
    INSERT INTO outbox (run_id, kind, payload)
    SELECT r.id, 'alert', json_build_object(
             'run_id', r.id, 'workspace_id', r.workspace_id, 'workflow_name', w.name, 'event', 'assigned',
             'text', ${gate.text}::text, 'node_id', ${gate.nodeId}::text, 'step_key', ${gate.stepKey}::text,
             'member_id', ${gate.memberId}::text, 'by', ${gate.by}::text)
    FROM runs r JOIN workflows w ON w.id = r.workflow_id WHERE r.id = ${gate.runId}
  `);
}

/** Queues a test alert. It belongs to no run, so its row has the id of the workspace. */
export async function queueTestAlert(
  tx: Tx,
  { workspaceId, by }: { workspaceId: string; by: string | null },
): Promise<void> {
  const alert: TestAlert = { event: 'test', workspace_id: workspaceId, by };
  await tx.query(statement(z.object({}))`
    INSERT INTO outbox (run_id, kind, payload) VALUES (${workspaceId}, 'alert', ${JSON.stringify(alert)}::json)
  `);
}

/** Queues the alert that someone has to sign in to a connection again. It belongs to no run, like a test. */
export async function queueConnectionAlert(
  tx: Tx,
  about: Omit<ConnectionAlert, 'event'>,
): Promise<void> {
  const alert: ConnectionAlert = { event: 'connection', ...about };
  await tx.query(statement(z.object({}))`
    INSERT INTO outbox (run_id, kind, payload)
    VALUES (${about.workspace_id}, 'alert', ${JSON.stringify(alert)}::json)
  `);
}

/** Alerts, and notices about children and waits, do not wait for other rows of their run, and do not block them. */
const isOrdered = (kind: FragmentSqlToken) =>
  sql.fragment`${kind} NOT IN ('alert', 'child', 'waited')`;

/** Whether no older row of the same run is waiting. */
export async function isFirst(db: Db, row: OutboxRow): Promise<boolean> {
  return db.oneFirst(statement(z.object({ first: z.boolean() }))`
    SELECT NOT EXISTS (SELECT FROM outbox WHERE run_id = ${row.run_id} AND id < ${row.id} AND ${isOrdered(sql.fragment`kind`)}) AS first
  `);
}

/**
 * Leases up to `limit` due rows. For each run, only the oldest is taken, unless order does not matter. Skips rows that
 * another process has locked.
 */
export async function takeDue(db: Db, limit: number): Promise<readonly OutboxRow[]> {
  return db.any(statement(outboxRow)`
    UPDATE outbox SET leased_until = now() + ${LEASE_MS}::int * interval '1 ms'
    WHERE id IN (
      SELECT o.id FROM outbox o
      WHERE o.due_at <= now() AND (o.leased_until IS NULL OR o.leased_until < now())
        AND (NOT ${isOrdered(sql.fragment`o.kind`)}
             OR NOT EXISTS (SELECT FROM outbox e
                            WHERE e.run_id = o.run_id AND e.id < o.id AND ${isOrdered(sql.fragment`e.kind`)}))
      ORDER BY o.due_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING id, run_id, kind, payload, attempts
  `);
}

/**
 * Removes a dispatched row, and stores its execution on the run when the run has none yet. If the removal is lost, the
 * row is dispatched again, without effect.
 */
export async function complete(db: Db, row: OutboxRow, temporalRunId?: string): Promise<void> {
  const runId = temporalRunId ?? null;
  await db.query(statement(z.object({ set_config: z.unknown() }))`
    WITH done AS (
      DELETE FROM outbox WHERE id = ${row.id}
    ), noted AS (
      UPDATE runs SET temporal_run_id = ${runId}
      WHERE id = ${row.run_id} AND ${runId}::text IS NOT NULL
        AND (temporal_run_id IS NULL OR temporal_run_id = ANY(superseded))
    )
    SELECT ${syncCommit(false)}
  `);
}

/** Releases the row, due again after a delay that doubles from 200 ms to 30 s. */
export async function postpone(db: Db, row: OutboxRow, reason: string): Promise<void> {
  const delayMs = Math.min(BACKOFF_CAP_MS, 200 * 2 ** Math.min(row.attempts, 10));
  await db.query(statement(z.object({}))`
    UPDATE outbox
    SET attempts = attempts + 1, leased_until = NULL, last_error = ${reason.slice(0, 500)},
        due_at = now() + ${delayMs}::int * interval '1 ms'
    WHERE id = ${row.id}
  `);
}

/**
 * Stores the payload that all further attempts must repeat exactly. Returns false and changes nothing when the row was
 * changed or deleted after it was read: then another process decides.
 */
export async function remember(db: Db, row: OutboxRow, payload: JsonObject): Promise<boolean> {
  const { rowCount } = await db.query(statement(z.object({}))`
    UPDATE outbox SET payload = ${JSON.stringify(payload)}::json
    WHERE id = ${row.id} AND payload::jsonb = ${JSON.stringify(row.payload)}::jsonb
  `);
  return rowCount > 0;
}
