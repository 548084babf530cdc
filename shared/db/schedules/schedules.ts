import { z } from 'zod';
import { type Actor, requireCapability } from '#shared/people/actor.ts';
import type { OffsetPage } from '#shared/contract/common.ts';
import {
  overlaps,
  type Schedule,
  type ScheduleInput,
  type ScheduleUpdate,
} from '#shared/contract/schedules/schedule.ts';
import { AppError, notFound } from '#shared/errors.ts';
import { canonicalJson } from '#shared/graph/diff.ts';
import type { JsonObject } from '#shared/json.ts';
import { nextDue } from '#shared/values/cron.ts';
import { withEtag } from '#shared/crypto/etags.ts';
import { newId } from '#shared/crypto/ids.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { offsetClause } from '#shared/db/cursor.ts';
import { LEASE_MS } from '#shared/db/runs/outbox.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { requireRoom } from '#shared/db/people/limits.ts';
import { lockWorkspace } from '#shared/db/people/workspaces.ts';
import { storedJson } from '#shared/db/stored-json.ts';

export interface ScheduleScope {
  workspaceId: string;
  scheduleId: string;
}

const idRow = z.object({ id: z.string() });
const jsonObject = storedJson<JsonObject>();

const scheduleRow = z.object({
  id: z.string(),
  workflow_id: z.string(),
  name: z.string().nullable(),
  cron: z.string(),
  timezone: z.string(),
  input: jsonObject,
  enabled: z.boolean(),
  overlap: z.enum(overlaps),
  last_run_at: z.string().nullable(),
  last_run_id: z.string().nullable(),
  last_skip_at: z.string().nullable(),
  last_skip_reason: z.string().nullable(),
  sync_error: z.string().nullable(),
  created_at: z.string(),
});

const scheduleColumns = sql.fragment`
  s.id, s.workflow_id, s.name, s.cron, s.timezone, s.input, s.enabled, s.overlap, s.last_run_at, s.last_run_id,
  s.last_skip_at, s.last_skip_reason, s.sync_error, s.created_at`;

function toSchedule(row: z.infer<typeof scheduleRow>): Schedule {
  const { last_skip_at: at, last_skip_reason: reason, ...rest } = row;
  // A row whose sync failed permanently may have a cron or time zone that cannot be parsed.
  const runs = row.enabled && row.sync_error === null;
  const next = runs ? nextDue(row, Date.now()) : undefined;
  const schedule = {
    ...rest,
    next_run_at: next === undefined ? null : new Date(next).toISOString(),
    last_skip: at === null || reason === null ? null : { at, reason },
  };
  const apart = ['next_run_at', 'last_run_at', 'last_run_id', 'last_skip', 'sync_error'] as const;
  return withEtag(schedule, apart);
}

/** Schedules of a workspace, newest first. */
export async function listSchedules(
  db: Db,
  page: OffsetPage & { workspaceId: string },
): Promise<Schedule[]> {
  const rows = await db.any(statement(scheduleRow)`
    SELECT ${scheduleColumns} FROM schedules s
    WHERE s.workspace_id = ${page.workspaceId}
    ORDER BY s.created_at DESC, s.id DESC ${offsetClause(page)}
  `);
  return rows.map(toSchedule);
}

/** Throws AppError `not_found`. */
export async function readSchedule(db: Db, scope: ScheduleScope): Promise<Schedule> {
  const row = await db.maybeOne(statement(scheduleRow)`
    SELECT ${scheduleColumns} FROM schedules s
    WHERE s.id = ${scope.scheduleId} AND s.workspace_id = ${scope.workspaceId}
  `);
  if (row === null) throw notFound('Schedule');
  return toSchedule(row);
}

/** Throws AppError `not_found` when the workflow has no such schedule. */
export async function requireSchedule(
  db: Db,
  scope: ScheduleScope & { workflowId: string },
): Promise<void> {
  const found = await db.maybeOne(statement(z.object({ id: z.string() }))`
    SELECT id FROM schedules
    WHERE id = ${scope.scheduleId} AND workspace_id = ${scope.workspaceId} AND workflow_id = ${scope.workflowId}
  `);
  if (found === null) throw notFound('Schedule');
}

/**
 * Creates a schedule and returns its id; Temporal is synced afterward. Throws AppError `not_found`, `conflict` when
 * there are too many, and `forbidden` for an enabled one when the actor cannot run workflows.
 */
export async function createSchedule(
  db: Pool,
  actor: Actor,
  input: ScheduleInput,
): Promise<Schedule> {
  const { workspaceId } = actor;
  const scheduleId = newId('schedule');
  return db.transaction(async (tx) => {
    await requireRoom(tx, workspaceId, 'schedules');
    const workflow = await tx.maybeOne(statement(idRow)`
      SELECT id FROM workflows WHERE id = ${input.workflow_id} AND workspace_id = ${workspaceId} FOR SHARE
    `);
    if (workflow === null) throw notFound('Workflow');
    if (input.enabled) requireCapability(actor, 'run_workflows');
    await tx.query(statement(z.object({}))`
      INSERT INTO schedules (id, workspace_id, workflow_id, name, cron, timezone, input, enabled, overlap, created_by)
      VALUES (${scheduleId}, ${workspaceId}, ${input.workflow_id}, ${input.name ?? null}, ${input.cron},
              ${input.timezone}, ${JSON.stringify(input.input)}::json, ${input.enabled}, ${input.overlap}, ${actor.id})
    `);
    await auditSchedule(tx, actor, 'schedule_create', { id: scheduleId, ...input });
    return readSchedule(tx, { workspaceId, scheduleId });
  });
}

/**
 * Changes the given fields; Temporal is synced afterward. Due times before the change are skipped. `check`
 * validates the new times and throws their errors. Throws AppError `not_found`, `invalid`, and `forbidden` where the
 * change affects runs and the actor cannot run workflows.
 */
export async function updateSchedule(
  db: Pool,
  actor: Actor,
  scheduleId: string,
  body: ScheduleUpdate,
  check: (timing: { cron: string; timezone: string }) => void,
): Promise<void> {
  const { workspaceId } = actor;
  await db.transaction(async (tx) => {
    if (body.enabled === true) await lockWorkspace(tx, workspaceId);
    // Locks the workflow before the schedule, as the workflow's deletion does.
    await tx.query(statement(z.object({}))`
      SELECT FROM schedules s JOIN workflows w ON w.id = s.workflow_id
      WHERE s.id = ${scheduleId} AND s.workspace_id = ${workspaceId} FOR SHARE OF w
    `);
    const before = await tx.maybeOne(statement(scheduleRow)`
      SELECT ${scheduleColumns} FROM schedules s
      WHERE s.id = ${scheduleId} AND s.workspace_id = ${workspaceId} FOR NO KEY UPDATE
    `);
    if (before === null) throw notFound('Schedule');
    if (body.workflow_id !== undefined && body.workflow_id !== before.workflow_id) {
      throw new AppError('invalid', 'workflow_id: cannot be changed; create another schedule');
    }
    const after = {
      ...before,
      name: body.name === undefined ? before.name : body.name,
      cron: body.cron ?? before.cron,
      timezone: body.timezone ?? before.timezone,
      input: body.input ?? before.input,
      enabled: body.enabled ?? before.enabled,
      overlap: body.overlap ?? before.overlap,
    };
    check(after);
    const timed = (['cron', 'timezone', 'enabled'] as const).some(
      (field) => after[field] !== before[field],
    );
    if (after.enabled && (timed || decidesRuns(before, after))) {
      requireCapability(actor, 'run_workflows');
    }
    // They decide what runs from now on, so they count as starters.
    const changes = timed || decidesRuns(before, after);
    await tx.query(statement(z.object({}))`
      UPDATE schedules SET name = ${after.name}, cron = ${after.cron}, timezone = ${after.timezone},
        input = ${JSON.stringify(after.input)}::json, enabled = ${after.enabled}, overlap = ${after.overlap},
        effective_from = CASE WHEN ${timed} THEN date_trunc('second', now()) ELSE effective_from END,
        editors = CASE WHEN ${changes && actor.id !== null} THEN array_append(array_remove(editors, ${actor.id}), ${actor.id})
                       ELSE editors END,
        revision = revision + 1, sync_error = NULL
      WHERE id = ${scheduleId} AND workspace_id = ${workspaceId}
    `);
    await auditSchedule(tx, actor, 'schedule_update', after);
  });
}

const decidesRuns = (
  before: z.infer<typeof scheduleRow>,
  after: z.infer<typeof scheduleRow>,
): boolean =>
  before.overlap !== after.overlap || canonicalJson(before.input) !== canonicalJson(after.input);

const deletedRow = z.object({ id: z.string(), workflow_id: z.string(), cron: z.string() });

/** Deletes the schedule. Runs that it started continue. Temporal is synced afterward. Throws AppError `not_found`. */
export async function deleteSchedule(db: Pool, actor: Actor, scheduleId: string): Promise<void> {
  await db.transaction(async (tx) => {
    const schedule = await tx.maybeOne(statement(deletedRow)`
      DELETE FROM schedules WHERE id = ${scheduleId} AND workspace_id = ${actor.workspaceId}
      RETURNING id, workflow_id, cron
    `);
    if (schedule === null) throw notFound('Schedule');
    await auditSchedule(tx, actor, 'schedule_delete', schedule);
  });
}

const auditSchedule = (
  tx: Tx,
  actor: Actor,
  action: 'schedule_create' | 'schedule_update' | 'schedule_delete',
  { id, workflow_id, cron }: z.infer<typeof deletedRow>,
): Promise<void> =>
  recordAudit(tx, actor, {
    action,
    targetType: 'workflow',
    targetId: workflow_id,
    details: { schedule_id: id, cron },
  });

/** Ids of a workflow's schedules. */
export async function listScheduleIds(
  db: Db,
  scope: { workspaceId: string; workflowId: string },
): Promise<readonly string[]> {
  return db.anyFirst(statement(idRow)`
    SELECT id FROM schedules WHERE workflow_id = ${scope.workflowId} AND workspace_id = ${scope.workspaceId}
  `);
}

const tickRow = z.object({
  workflow_id: z.string(),
  name: z.string().nullable(),
  cron: z.string(),
  timezone: z.string(),
  input: jsonObject,
  counts: z.boolean(),
  run_id: z.string().nullable(),
});

/**
 * The schedule for a tick. `counts`: whether it was enabled with these times when the tick was due. `run_id`: the run
 * that this tick has already started.
 */
export async function readForTick(
  db: Db,
  tick: ScheduleScope & { dueAt: string },
): Promise<z.infer<typeof tickRow> | undefined> {
  const row = await db.maybeOne(statement(tickRow)`
    SELECT s.workflow_id, s.name, s.cron, s.timezone, s.input,
           s.enabled AND s.effective_from <= ${tick.dueAt}::timestamptz AS counts,
           coalesce(
             (SELECT r.id FROM runs r WHERE r.schedule_id = s.id AND r.due_at = ${tick.dueAt}::timestamptz
                AND r.workspace_id = s.workspace_id),
             (SELECT j.run_id FROM joined_ticks j WHERE j.schedule_id = s.id AND j.due_at = ${tick.dueAt}::timestamptz)) AS run_id
    FROM schedules s WHERE s.id = ${tick.scheduleId} AND s.workspace_id = ${tick.workspaceId}
  `);
  return row ?? undefined;
}

/** Stores why a due time started no run. The latest reason replaces earlier ones. */
export async function recordSkip(
  db: Db,
  tick: ScheduleScope & { dueAt: string; reason: string },
): Promise<void> {
  await db.query(statement(z.object({}))`
    UPDATE schedules SET last_skip_at = ${tick.dueAt}::timestamptz, last_skip_reason = ${tick.reason}
    WHERE id = ${tick.scheduleId} AND workspace_id = ${tick.workspaceId}
      AND (last_skip_at IS NULL OR last_skip_at <= ${tick.dueAt}::timestamptz)
  `);
}

const outdatedRow = z.object({
  id: z.string(),
  workspace_id: z.string(),
  cron: z.string(),
  timezone: z.string(),
  enabled: z.boolean(),
  name: z.string().nullable(),
  revision: z.number(),
  /** How many schedules are enabled in total. */
  enabled_schedules: z.number(),
});
export type OutdatedSchedule = z.infer<typeof outdatedRow>;

/**
 * Schedules, or the named one, whose current revision is not synced to Temporal. Each is leased to the caller, because
 * two concurrent syncs of one schedule could leave the older revision in place.
 */
export async function takeOutdated(
  db: Db,
  { only = null, limit }: { only?: string | null; limit: number },
): Promise<readonly OutdatedSchedule[]> {
  return db.any(statement(outdatedRow)`
    UPDATE schedules SET leased_until = now() + ${LEASE_MS}::int * interval '1 ms'
    WHERE id IN (
      SELECT id FROM schedules
      WHERE told_revision < revision AND (leased_until IS NULL OR leased_until < now())
        AND (${only}::text IS NULL OR id = ${only})
      ORDER BY id LIMIT ${limit} FOR UPDATE SKIP LOCKED)
    RETURNING id, workspace_id, cron, timezone, enabled, name, revision,
              (SELECT count(*) FROM schedules WHERE enabled) AS enabled_schedules
  `);
}

/**
 * Marks this revision as synced with these time zone rules, or as refused permanently; a newer revision keeps its own
 * state. Returns false when the schedule was deleted.
 */
export async function markSynced(
  db: Db,
  synced: Pick<OutdatedSchedule, 'id' | 'workspace_id' | 'revision'> & {
    refusal: { reason: string } | undefined;
    rules: string;
  },
): Promise<boolean> {
  const { rowCount } = await db.query(statement(z.object({}))`
    UPDATE schedules SET told_revision = ${synced.revision}, told_at = now(), told_rules = ${synced.rules},
      leased_until = NULL,
      sync_error = CASE WHEN revision = ${synced.revision} THEN ${synced.refusal?.reason ?? null} ELSE sync_error END
    WHERE id = ${synced.id} AND workspace_id = ${synced.workspace_id}
  `);
  return rowCount > 0;
}

/** Marks a schedule for another sync because Temporal's copy seems to differ. */
export async function markOutdated(db: Db, scope: ScheduleScope): Promise<void> {
  await db.query(statement(z.object({}))`
    UPDATE schedules SET told_revision = 0
    WHERE id = ${scope.scheduleId} AND workspace_id = ${scope.workspaceId} AND told_revision = revision AND sync_error IS NULL
  `);
}

/** Temporal's copy of one schedule. */
export interface KnownSchedule {
  id: string;
  paused: boolean;
}

/**
 * Compares all schedules with Temporal's copies. It marks for another sync those that are missing, those paused
 * differently from the row, and those synced longer ago than `renewDays` or with older time zone rules. It returns ids
 * without a row. Rejected schedules have no copy: only their age and new rules count. Schedules synced within `graceMs`
 * may be too new for Temporal's list and are skipped.
 */
export async function compareSchedules(
  db: Db,
  known: readonly KnownSchedule[],
  { graceMs, renewDays, rules }: { graceMs: number; renewDays: number; rules: string },
): Promise<readonly string[]> {
  const list = sql.unnest(
    known.map(({ id, paused }) => [id, paused]),
    ['text', 'bool'],
  );
  return db.anyFirst(statement(idRow)`
    WITH known AS MATERIALIZED (
      SELECT k.id, k.paused FROM ${list} AS k (id, paused)
    ), behind AS (
      UPDATE schedules s SET told_revision = 0
      WHERE s.told_revision = s.revision AND s.told_at < now() - ${graceMs}::int * interval '1 ms'
        AND (s.told_at < now() - ${renewDays}::int * interval '1 day'
             OR s.told_rules IS NULL OR s.told_rules COLLATE "C" < ${rules}
             OR s.sync_error IS NULL
                AND NOT EXISTS (SELECT FROM known k WHERE k.id = s.id AND k.paused <> s.enabled))
    )
    SELECT k.id FROM known k WHERE NOT EXISTS (SELECT FROM schedules s WHERE s.id = k.id)
  `);
}
