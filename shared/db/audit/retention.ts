import { z } from 'zod';
import { type PlanName, planNames } from '#shared/people/plans.ts';
import { recordAudit } from './audit.ts';
import { sweepAudit } from './chain.ts';
import type { OutboxRow } from '#shared/db/runs/outbox.ts';
import { type Db, type Pool, sql, statement, syncCommit, type Tx } from '#shared/db/pool.ts';
import { settleCancelled } from '#shared/db/runs/ends.ts';

/**
 * The statements of a retention sweep. Each is a short transaction over a bounded batch that skips locked rows, so any
 * number of sweepers and users can work concurrently.
 */

/** Runs deleted per batch. */
const RUN_BATCH = 500;
/** Limits a batch of long runs by their frames; a step has two or three. */
const FRAME_BATCH = 20_000;
/** Audit entries deleted per batch. */
const AUDIT_BATCH = 500;
const PAYLOAD_BATCH = 100;
/** Outbound events deleted per batch, each with up to a hundred deliveries. */
const OUTBOUND_BATCH = 200;
/** The execution of a run that ended less than this ago may still be closing. */
const ENDING_MINUTES = 15;

/** One day because a payload's timestamp is renewed at most once a day; the rest covers clock skew and slow calls. */
const PAYLOAD_MARGIN_DAYS = 7;

const DAY_MS = 86_400_000;

const workspaceRow = z.object({ id: z.string(), plan: z.enum(planNames) });

/** The next workspaces by id, with the plan that determines their retention windows. */
export async function workspacesAfter(
  db: Db,
  after: string,
  limit: number,
): Promise<readonly { id: string; plan: PlanName }[]> {
  return db.any(statement(workspaceRow)`
    SELECT id, plan FROM workspaces WHERE id > ${after} ORDER BY id LIMIT ${limit}
  `);
}

export interface Window {
  workspaceId: string;
  /** Whole days since the creation. */
  days: number;
}

/** Condition for a row of `runs`, without an alias: it belongs to this workspace and is past its window. */
const expired = (window: Window) => sql.fragment`
  runs.workspace_id = ${window.workspaceId} AND runs.created_at < now() - ${window.days}::int * interval '1 day'`;

/** The run has ended, no step is running, and only alerts, which do not need the run, are pending in the outbox. */
const atRest = sql.fragment`
  runs.status IN ('success', 'failed')
  AND NOT EXISTS (SELECT FROM outbox o WHERE o.run_id = runs.id AND o.kind <> 'alert')
  AND NOT EXISTS (SELECT FROM steps s WHERE s.run_id = runs.id AND s.claim_until > clock_timestamp())`;

const idRow = z.object({ id: z.string() });

/** Expired runs that ended recently, so that their executions may not have closed yet. */
export async function expiredAndEnding(
  db: Db,
  window: Window,
  limit: number,
): Promise<readonly string[]> {
  return db.anyFirst(statement(idRow)`
    SELECT id FROM runs
    WHERE ${expired(window)} AND status IN ('success', 'failed')
      AND finished_at > now() - ${ENDING_MINUTES}::int * interval '1 minute'
      -- Follows from the above, since every window is longer, and selects the index of these few runs.
      AND finished_at - created_at > interval '1 day'
    ORDER BY created_at, id LIMIT ${limit}
  `);
}

/** A time before every run. */
export const BEGINNING = '-infinity';

/** A batch to delete: only runs created at or after `from`, a Postgres timestamp. */
export interface RunBatch {
  /** Runs that ended recently and whose executions have closed. */
  closed: readonly string[];
  from: string;
}

const deletedRow = z.object({
  runs: z.number(),
  until: z.string().nullable(),
  set_config: z.unknown(),
});

/**
 * Deletes and counts a batch of expired runs with everything that belongs to them, oldest first. Skips runs that are
 * being resumed or settled. Returns how many were deleted, and when the last of them was created: the next batch
 * continues there, since deleted rows stay in the index until a vacuum, and reading them again costs more with each
 * batch. The commit does not wait for the disk: after a crash of the database server, the runs still exist and are not
 * counted.
 *
 * Rows of the largest tables are deleted as sets, which is faster than the cascade of each run. The cascades remove the
 * rest, and rows that were inserted after the statement began.
 */
export async function deleteExpiredRuns(
  db: Pool,
  window: Window,
  { closed, from }: RunBatch,
): Promise<{ runs: number; until: string }> {
  return db.transaction(async (tx) => {
    const { runs, until } = await tx.one(statement(deletedRow)`
      WITH held AS (
        SELECT id, created_at, frame_seq FROM runs
        WHERE ${expired(window)} AND ${atRest} AND created_at >= ${from}::timestamptz
          AND (finished_at <= now() - ${ENDING_MINUTES}::int * interval '1 minute'
               OR id = ANY(${sql.array([...closed], 'text')}))
        ORDER BY created_at, id LIMIT ${RUN_BATCH} FOR UPDATE SKIP LOCKED
      ), measured AS (
        SELECT id, sum(frame_seq) OVER before AS frames_before FROM held
        WINDOW before AS (ORDER BY created_at, id ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING)
      ), doomed AS MATERIALIZED (
        SELECT id FROM measured WHERE coalesce(frames_before, 0) < ${FRAME_BATCH}
      ), frames AS (
        DELETE FROM run_frames WHERE run_id = ANY (ARRAY(SELECT id FROM doomed))
      ), steps AS (
        DELETE FROM steps WHERE run_id = ANY (ARRAY(SELECT id FROM doomed))
      ), deleted AS (
        DELETE FROM runs WHERE id = ANY (ARRAY(SELECT id FROM doomed)) RETURNING created_at
      )
      SELECT count(*) AS runs, max(created_at)::text AS until, ${syncCommit(false)} FROM deleted
    `);
    if (runs > 0) await countRemoved(tx, window.workspaceId, { runs, audit: 0 });
    return { runs, until: until ?? from };
  });
}

/**
 * Cancels a batch of expired active runs, one transaction each, as if a member had cancelled them. The caller
 * dispatches the returned rows. This writes frames, so the caller must wake the streams.
 */
export async function cancelExpiredRuns(
  db: Pool,
  window: Window,
  options: { limit: number; alerts: boolean },
): Promise<OutboxRow[]> {
  const live = await db.anyFirst(statement(idRow)`
    SELECT id FROM runs
    WHERE ${expired(window)} AND status IN ('pending', 'running', 'paused')
    ORDER BY created_at, id LIMIT ${options.limit}
  `);
  const promises: OutboxRow[] = [];
  for (const runId of live) {
    const promise = await cancelExpired(db, window, { runId, alerts: options.alerts });
    if (promise !== undefined) promises.push(promise);
  }
  return promises;
}

async function cancelExpired(
  db: Pool,
  window: Window,
  { runId, alerts }: { runId: string; alerts: boolean },
): Promise<OutboxRow | undefined> {
  const actor = { workspaceId: window.workspaceId, id: null, name: null };
  return db.transaction(async (tx) => {
    const run = await tx.maybeOne(statement(idRow)`
      SELECT id FROM runs
      WHERE id = ${runId} AND ${expired(window)} AND status IN ('pending', 'running', 'paused') FOR UPDATE
    `);
    if (run === null) return undefined;
    return (await settleCancelled(tx, { actor, runId, by: 'retention', alerts })).row;
  });
}

/** The number of expired runs that remain, active or not yet deletable; at most `limit`. */
export async function countExpired(db: Db, window: Window, limit: number): Promise<number> {
  return db.oneFirst(statement(z.object({ left: z.number() }))`
    SELECT count(*) AS left FROM (SELECT FROM runs WHERE ${expired(window)} LIMIT ${limit}) r
  `);
}

/** Deletes and counts a batch of audit entries past their window. Returns how many. */
export async function deleteExpiredAudit(db: Pool, window: Window): Promise<number> {
  return db.transaction(async (tx) => {
    const audit = await sweepAudit(tx, {
      workspaceId: window.workspaceId,
      before: new Date(Date.now() - window.days * DAY_MS).toISOString(),
      batch: AUDIT_BATCH,
    });
    if (audit > 0) await countRemoved(tx, window.workspaceId, { runs: 0, audit });
    return audit;
  });
}

/**
 * Deletes a batch of governance events past the window of the audit log: refused triggers alone could fill the table.
 * Returns how many.
 */
export async function deleteExpiredGovernance(db: Db, window: Window): Promise<number> {
  // Reads only the oldest: if none of them is past the window, no event is.
  const { rowCount } = await db.query(statement(z.object({}))`
    DELETE FROM governance_events WHERE id IN (
      SELECT o.id FROM (
        SELECT id, created_at FROM governance_events WHERE workspace_id = ${window.workspaceId}
        ORDER BY seq LIMIT ${AUDIT_BATCH} FOR UPDATE SKIP LOCKED
      ) o WHERE o.created_at < now() - ${window.days}::int * interval '1 day')
  `);
  return rowCount;
}

async function countRemoved(
  tx: Tx,
  workspaceId: string,
  removed: { runs: number; audit: number },
): Promise<void> {
  await tx.query(statement(z.object({}))`
    INSERT INTO retention_removals AS r (workspace_id, runs, audit)
    VALUES (${workspaceId}, ${removed.runs}, ${removed.audit})
    ON CONFLICT (workspace_id) DO UPDATE SET runs = r.runs + excluded.runs, audit = r.audit + excluded.audit
  `);
}

/**
 * Deletes a batch of outbound events, with their deliveries and attempts, including failed and pending ones. Returns
 * how many events.
 */
export async function deleteExpiredOutbound(db: Db, window: Window): Promise<number> {
  const { rowCount } = await db.query(statement(z.object({}))`
    DELETE FROM outbound_events WHERE id IN (
      SELECT id FROM outbound_events
      WHERE workspace_id = ${window.workspaceId} AND created_at < now() - ${window.days}::int * interval '1 day'
      ORDER BY created_at LIMIT ${OUTBOUND_BATCH} FOR UPDATE SKIP LOCKED)
  `);
  return rowCount;
}

/** Writes an audit entry with the removals since the last such entry, if there were any. */
export async function recordRemovals(db: Pool, workspaceId: string): Promise<void> {
  await db.transaction(async (tx) => {
    const removed = await tx.maybeOne(statement(z.object({ runs: z.number(), audit: z.number() }))`
      DELETE FROM retention_removals WHERE workspace_id = ${workspaceId} RETURNING runs, audit
    `);
    if (removed === null) return;
    await recordAudit(
      tx,
      { workspaceId, id: null, name: null },
      {
        action: 'retention_sweep',
        targetType: 'workspace',
        targetId: workspaceId,
        details: { runs: removed.runs, audit: removed.audit },
      },
    );
  });
}

/**
 * Deletes a batch of stored payloads that no history can reference. Every run that references a payload already existed
 * when the payload was last stored. So open runs do not need payloads that were stored before the oldest open run was
 * created. The same applies to runs that ended within Temporal's retention of histories (`historyDays`, rounded up).
 * Runs that lasted less than a day no longer matter after `historyDays` plus one day.
 *
 * Payloads belong to no workspace: their key is their content.
 */
export async function deleteUnusedPayloads(db: Pool, historyDays: number): Promise<number> {
  const keep = sql.fragment`${historyDays + PAYLOAD_MARGIN_DAYS}::int * interval '1 day'`;
  const deleted = await db.query(statement(z.object({}))`
    WITH needed AS (
      SELECT least(
        now() - ${keep},
        (SELECT min(created_at) - interval '2 days' FROM runs WHERE status IN ('pending', 'running', 'paused')),
        (SELECT min(created_at) - interval '2 days' FROM runs
         WHERE finished_at - created_at > interval '1 day' AND finished_at > now() - ${keep})
      ) AS since
    )
    DELETE FROM payloads WHERE digest IN (
      SELECT p.digest FROM payloads p
      WHERE p.stored_at < (SELECT since FROM needed)
      ORDER BY p.stored_at LIMIT ${PAYLOAD_BATCH} FOR UPDATE SKIP LOCKED)
  `);
  return deleted.rowCount;
}
