import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import { jobStatuses } from '#shared/contract/jobs/job.ts';
import { newId } from '#shared/crypto/ids.ts';
import { conflict, notFound } from '#shared/errors.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { decodeCursor, pageOf } from '#shared/db/cursor.ts';
import { requireRoom } from '#shared/db/people/limits.ts';
import { type Db, jsonOrNull, sql, statement, type Tx } from '#shared/db/pool.ts';
import { enqueue, type OutboxRow } from '#shared/db/runs/outbox.ts';
import { storedJson } from '#shared/db/stored-json.ts';

/**
 * Background jobs of every kind. A job's row determines whether and where it continues: an execution stores a page
 * together with the position after it, but only if no other execution has done so since it read the row. So a page that
 * is processed twice, after a crash or by two executions, is stored once.
 */

const jobKinds = ['backtest', 'experiment', 'event_replay'] as const;
export type JobKind = (typeof jobKinds)[number];

export interface JobScope {
  workspaceId: string;
  jobId: string;
  kind: JobKind;
}

/** An execution counts as lost when its job has stored no page for this long. */
const LOST_MINUTES = 15;
const jsonObject = storedJson<JsonObject>();

/** Inserts a job, with the call that starts its execution. Throws AppError `conflict` when too many are running. */
export async function insertJob(
  tx: Tx,
  actor: Actor,
  { kind, request }: { kind: JobKind; request: JsonObject },
): Promise<{ id: string; row: OutboxRow }> {
  await requireRoom(tx, actor.workspaceId, 'jobs');
  const id = newId('job');
  await tx.query(statement(z.object({}))`
    INSERT INTO background_jobs (id, workspace_id, kind, request, created_by, created_by_name)
    VALUES (${id}, ${actor.workspaceId}, ${kind}, ${JSON.stringify(request)}::json, ${actor.id}, ${actor.name})
  `);
  return { id, row: await enqueue(tx, { runId: id, kind: 'job' }) };
}

const startRow = z.object({ workspace_id: z.string(), kind: z.enum(jobKinds), round: z.number() });

/** The execution that a job should have; null when the job has ended or was deleted. */
export const readJobStart = (db: Db, jobId: string): Promise<z.infer<typeof startRow> | null> =>
  db.maybeOne(statement(startRow)`
    SELECT workspace_id, kind, round FROM background_jobs WHERE id = ${jobId} AND status = 'running'
  `);

const runningRow = z.object({
  id: z.string(),
  workspace_id: z.string(),
  kind: z.enum(jobKinds),
  round: z.number(),
  request: jsonObject,
  position: storedJson(),
  pages: z.number(),
  done: z.number(),
  total: z.number().nullable(),
  result: jsonObject,
  created_by: z.string().nullable(),
  created_by_name: z.string().nullable(),
  created_at: z.string(),
});
/** A running job, as its execution reads it before a page. */
export type RunningJob = z.infer<typeof runningRow>;

/** Null when the job has ended or was deleted, or another execution has replaced this one. */
export const readRunningJob = (
  db: Db,
  { workspaceId, jobId, round }: { workspaceId: string; jobId: string; round: number },
): Promise<RunningJob | null> =>
  db.maybeOne(statement(runningRow)`
    SELECT id, workspace_id, kind, round, request, "position", pages, done, total, result, created_by, created_by_name,
           created_at
    FROM background_jobs
    WHERE id = ${jobId} AND workspace_id = ${workspaceId} AND round = ${round}::int AND status = 'running'
  `);

/** Throws AppError `conflict` unless the job is running. */
export async function requireRunningJob(db: Db, jobId: string): Promise<void> {
  const running = await db.exists(statement(z.object({}))`
    SELECT FROM background_jobs WHERE id = ${jobId} AND status = 'running'
  `);
  if (!running) throw conflict('The job is not running any more');
}

/** A page of a job, to be stored. */
export interface KeptPage {
  /** Where the next page begins; null after the last page. */
  position: Json;
  /** The number of items in the page. */
  items: number;
  /** The result of the whole job so far. */
  result: JsonObject;
}

/**
 * Stores a page in the caller's transaction, which also writes the page's findings. Returns false when the job has
 * ended or is at another position by now: then the caller must not commit.
 */
export async function keepPage(tx: Tx, job: RunningJob, page: KeptPage): Promise<boolean> {
  const ends = page.position === null;
  const done = job.done + page.items;
  const { rowCount } = await tx.query(statement(z.object({}))`
    UPDATE background_jobs SET
      "position" = ${jsonOrNull(page.position)}, pages = pages + 1, done = ${done}::bigint,
      result = ${JSON.stringify(page.result)}::json, updated_at = clock_timestamp(),
      total = CASE WHEN ${ends} THEN ${done}::bigint ELSE greatest(total, ${done}::bigint) END,
      status = CASE WHEN ${ends} THEN 'done' ELSE status END,
      finished_at = CASE WHEN ${ends} THEN clock_timestamp() END
    WHERE id = ${job.id} AND workspace_id = ${job.workspace_id} AND status = 'running' AND round = ${job.round}::int
      AND pages = ${job.pages}::int
  `);
  return rowCount === 1;
}

/** Stores the total number of items. */
export async function keepTotal(db: Db, job: RunningJob, total: number): Promise<void> {
  await db.query(statement(z.object({}))`
    UPDATE background_jobs SET total = greatest(${total}::bigint, done), updated_at = clock_timestamp()
    WHERE id = ${job.id} AND workspace_id = ${job.workspace_id} AND status = 'running' AND total IS NULL
  `);
}

/** Ends a job as failed, unless it has ended or another execution has replaced this one. */
export async function failJob(
  db: Db,
  job: { workspaceId: string; jobId: string; round: number; error: string },
): Promise<void> {
  await db.query(statement(z.object({}))`
    UPDATE background_jobs SET status = 'failed', error = ${job.error}, finished_at = clock_timestamp()
    WHERE id = ${job.jobId} AND workspace_id = ${job.workspaceId} AND round = ${job.round}::int AND status = 'running'
  `);
}

const statusRow = z.object({ status: z.enum(jobStatuses) });

/** Cancels a running job. Its execution ends at the next page. Throws AppError `not_found`, `conflict`. */
export async function cancelJob(tx: Tx, scope: JobScope, noun: string): Promise<void> {
  const { rowCount } = await tx.query(statement(z.object({}))`
    UPDATE background_jobs SET status = 'cancelled', finished_at = clock_timestamp()
    WHERE id = ${scope.jobId} AND workspace_id = ${scope.workspaceId} AND kind = ${scope.kind} AND status = 'running'
  `);
  if (rowCount === 1) return;
  const row = await tx.maybeOne(statement(statusRow)`
    SELECT status FROM background_jobs
    WHERE id = ${scope.jobId} AND workspace_id = ${scope.workspaceId} AND kind = ${scope.kind}
  `);
  if (row === null) throw notFound(noun);
  throw conflict(`This ${noun.toLowerCase()} is not running: it is ${row.status}`);
}

const jobRow = z.object({
  id: z.string(),
  status: z.enum(jobStatuses),
  request: jsonObject,
  result: jsonObject,
  done: z.number(),
  total: z.number().nullable(),
  error: z.string().nullable(),
  created_by: z.string().nullable(),
  created_by_name: z.string().nullable(),
  created_at: z.string(),
  finished_at: z.string().nullable(),
});
type JobRow = z.infer<typeof jobRow>;

const jobColumns = sql.fragment`
  id, status, request, result, done, total, error, created_by, created_by_name, created_at, finished_at`;

/** A job with the fields that all kinds have, and its own request and result. */
export type Job = Omit<JobRow, 'done' | 'total'> & {
  progress: { done: number; total: number | null };
};

const toJob = ({ done, total, ...row }: JobRow): Job => ({ ...row, progress: { done, total } });

/** Throws AppError `not_found`, with the noun. */
export async function readJob(db: Db, scope: JobScope, noun: string): Promise<Job> {
  const row = await db.maybeOne(statement(jobRow)`
    SELECT ${jobColumns} FROM background_jobs
    WHERE id = ${scope.jobId} AND workspace_id = ${scope.workspaceId} AND kind = ${scope.kind}
  `);
  if (row === null) throw notFound(noun);
  return toJob(row);
}

/**
 * A page of the jobs of a kind, optionally of one workflow, newest first. Throws AppError `invalid` for a cursor of
 * another list.
 */
export async function listJobs(
  db: Db,
  { workspaceId, kind, workflowId }: Omit<JobScope, 'jobId'> & { workflowId?: string },
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<{ jobs: Job[]; next_cursor: string | null }> {
  const end = cursor === undefined ? undefined : decodeCursor(cursor);
  const after =
    end === undefined
      ? sql.fragment``
      : sql.fragment`AND (created_at, id) < (to_timestamp(0) + ${end.at}::bigint * interval '1 microsecond', ${end.id})`;
  const ofWorkflow =
    workflowId === undefined
      ? sql.fragment``
      : sql.fragment`AND request ->> 'workflow_id' = ${workflowId}`;
  const rows = await db.any(sql.type(jobRow.extend({ at: z.number() }))`
    SELECT ${jobColumns}, (extract(epoch FROM created_at) * 1000000)::bigint AS at
    FROM background_jobs WHERE workspace_id = ${workspaceId} AND kind = ${kind} ${ofWorkflow} ${after}
    ORDER BY created_at DESC, id DESC LIMIT ${limit + 1}
  `);
  const page = pageOf(rows, limit);
  return {
    jobs: page.rows.map(({ at: _at, ...row }) => toJob(row)),
    next_cursor: page.next_cursor,
  };
}

/**
 * Queues another execution for each job whose execution was terminated or lost by Temporal. An execution that was only
 * late finds that it was replaced. Returns how many, at most `limit`.
 */
export async function requeueLostJobs(db: Db, limit: number): Promise<number> {
  const { rowCount } = await db.query(statement(z.object({}))`
    WITH lost AS (
      UPDATE background_jobs SET round = round + 1, updated_at = clock_timestamp()
      WHERE id IN (
        SELECT id FROM background_jobs
        WHERE status = 'running' AND updated_at < now() - ${LOST_MINUTES}::int * interval '1 minute'
        ORDER BY updated_at LIMIT ${limit} FOR UPDATE SKIP LOCKED)
      RETURNING id
    )
    INSERT INTO outbox (run_id, kind) SELECT id, 'job' FROM lost
  `);
  return rowCount;
}

/** Jobs deleted per batch, each with up to ten thousand findings. */
const EXPIRED_BATCH = 10;

/** Deletes a batch of jobs that ended this many days ago, with their findings. Returns how many. */
export async function deleteExpiredJobs(
  db: Db,
  { workspaceId, days }: { workspaceId: string; days: number },
): Promise<number> {
  const { rowCount } = await db.query(statement(z.object({}))`
    DELETE FROM background_jobs WHERE id IN (
      SELECT id FROM background_jobs
      WHERE workspace_id = ${workspaceId} AND finished_at < now() - ${days}::int * interval '1 day'
      ORDER BY created_at LIMIT ${EXPIRED_BATCH} FOR UPDATE SKIP LOCKED)
  `);
  return rowCount;
}
