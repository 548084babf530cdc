import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import type { OffsetPage } from '#shared/contract/common.ts';
import {
  type SourceDetail,
  sourceDetailSchema,
  sourceHealths,
  type SourceInput,
  type SourceReport,
  type SourceUpdate,
} from '#shared/contract/data/source.ts';
import { notFound } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import { withEtag } from '#shared/crypto/etags.ts';
import { newId } from '#shared/crypto/ids.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { offsetClause } from '#shared/db/cursor.ts';
import { type Db, type Pool, sql, statement, type Tx } from '#shared/db/pool.ts';
import { thisMonth } from '#shared/db/month.ts';
import { announceChanges } from '#shared/db/events/service-events.ts';
import { lockForWrite } from './write-lock.ts';
import { requireRoom } from '#shared/db/people/limits.ts';

/** This many failures in a row make a source `failed`. */
const FAILURES_TO_FAIL = 3;

const sourceFields = sourceDetailSchema.omit({ health: true, etag: true }).extend({
  ...sourceDetailSchema.shape.health.omit({ status: true }).shape,
  health: z.enum(sourceHealths),
});

function toSource(row: z.infer<typeof sourceFields>): SourceDetail {
  const { health, last_success_at, consecutive_failures, last_failure_at, last_error, ...source } =
    row;
  const detail = {
    ...source,
    health: {
      status: health,
      last_success_at,
      consecutive_failures,
      last_failure_at,
      last_error,
    },
  };
  return withEtag(detail, ['health']);
}

const sourceRow = sourceFields.transform(toSource);

const sourceColumns = sql.fragment`
  s.id, s.name, s.type, s.jurisdiction, s.cadence, s.permission_status, s.license_status, s.reliability_score,
  s.health, s.last_success_at, s.last_failure_at, s.last_error, s.consecutive_failures, s.is_demo, s.created_at,
  s.updated_at`;

/** Newest first. `isDemo` selects demo or live sources; by default, both are listed. */
export async function listSources(
  db: Db,
  of: { workspaceId: string; isDemo?: boolean },
  page?: OffsetPage,
): Promise<readonly SourceDetail[]> {
  return db.any(statement(sourceRow)`
    SELECT ${sourceColumns} FROM data_sources s
    WHERE workspace_id = ${of.workspaceId}
      AND (${of.isDemo ?? null}::boolean IS NULL OR is_demo = ${of.isDemo ?? null})
    ORDER BY created_at DESC, id DESC ${offsetClause(page)}
  `);
}

/** Throws AppError `not_found`. */
export async function readSource(
  db: Db,
  of: { workspaceId: string; sourceId: string },
): Promise<SourceDetail> {
  const source = await db.maybeOne(statement(sourceRow)`
    SELECT ${sourceColumns} FROM data_sources s
    WHERE id = ${of.sourceId} AND workspace_id = ${of.workspaceId}
  `);
  if (source === null) throw notFound('Source');
  return source;
}

/** Throws AppError `conflict` when there are too many sources. A duplicate name violates a constraint. */
export async function createSource(
  db: Pool,
  actor: Actor,
  input: SourceInput,
): Promise<SourceDetail> {
  const { workspaceId } = actor;
  return db.transaction(async (tx) => {
    await requireRoom(tx, workspaceId, 'sources');
    await lockForWrite(tx, workspaceId);
    const source = await tx.one(statement(sourceRow)`
      INSERT INTO data_sources AS s (id, workspace_id, is_demo, name, type, jurisdiction, cadence, permission_status,
                                     license_status, reliability_score, created_by)
      VALUES (${newId('source')}, ${workspaceId}, ${input.is_demo}, ${input.name}, ${input.type},
              ${input.jurisdiction}, ${input.cadence}, ${input.permission_status}, ${input.license_status},
              ${input.reliability_score}::float8, ${actor.id})
      RETURNING ${sourceColumns}
    `);
    await auditSource(tx, actor, source, 'create', { is_demo: source.is_demo });
    return source;
  });
}

/** Changes the given fields and records them in the audit log. Throws AppError `not_found`. */
export async function updateSource(
  db: Pool,
  actor: Actor,
  sourceId: string,
  update: SourceUpdate,
): Promise<SourceDetail> {
  const { workspaceId } = actor;
  return db.transaction(async (tx) => {
    const before = await tx.maybeOne(statement(sourceRow)`
      SELECT ${sourceColumns} FROM data_sources s
      WHERE id = ${sourceId} AND workspace_id = ${workspaceId} FOR NO KEY UPDATE
    `);
    if (before === null) throw notFound('Source');
    const after = { ...before, ...update };
    const changed = WRITABLE.filter((field) => before[field] !== after[field]);
    if (changed.length === 0) return before;
    const source = await tx.one(statement(sourceRow)`
      UPDATE data_sources s
      SET name = ${after.name}, type = ${after.type}, jurisdiction = ${after.jurisdiction}, cadence = ${after.cadence},
          permission_status = ${after.permission_status}, license_status = ${after.license_status},
          reliability_score = ${after.reliability_score}::float8, updated_at = now()
      WHERE id = ${sourceId} AND workspace_id = ${workspaceId}
      RETURNING ${sourceColumns}
    `);
    await auditSource(tx, actor, source, 'update', { changed });
    return source;
  });
}

const WRITABLE = [
  'name',
  'type',
  'jurisdiction',
  'cadence',
  'permission_status',
  'license_status',
  'reliability_score',
] as const;

/** Deletes a source; its records stay. Throws AppError `not_found`. */
export async function deleteSource(db: Pool, actor: Actor, sourceId: string): Promise<void> {
  await db.transaction(async (tx) => {
    const source = await tx.maybeOne(statement(sourceRow)`
      DELETE FROM data_sources s WHERE id = ${sourceId} AND workspace_id = ${actor.workspaceId}
      RETURNING ${sourceColumns}
    `);
    if (source === null) throw notFound('Source');
    await auditSource(tx, actor, source, 'delete', {});
  });
}

export interface SourceCheck extends SourceReport {
  workspaceId: string;
  /** Id or name. If a live and a demo source have the same name, it means the live one. */
  source: string;
  /** The run that reports it. */
  runId?: string;
  /** Identifies repeated reports of one check: they have the same key. */
  reportKey?: string;
}

const checkedRow = sourceFields
  .extend({ was: z.enum(sourceHealths) })
  .transform(({ was, ...row }) => ({ was, source: toSource(row) }));

/**
 * Records the result of a source check, and counts it for the month. The third failure in a row makes the source
 * `failed` and queues `source.failed`; the next success makes it `healthy` and queues `source.recovered`. Repeating the
 * last report changes nothing. Throws AppError `not_found`.
 */
export async function reportSource(tx: Tx, check: SourceCheck): Promise<SourceDetail> {
  const { workspaceId, ok } = check;
  const reportKey = check.reportKey ?? null;
  const checked = await tx.maybeOne(statement(checkedRow)`
    WITH named AS MATERIALIZED (
      SELECT id FROM data_sources
      WHERE workspace_id = ${workspaceId} AND (id = ${check.source} OR name = ${check.source})
      ORDER BY id = ${check.source} DESC, is_demo LIMIT 1
    ), before AS MATERIALIZED (
      SELECT b.id, b.health, b.consecutive_failures + 1 AS failures,
             b.last_report_key IS NOT DISTINCT FROM ${reportKey} AND ${reportKey}::text IS NOT NULL AS repeated,
             coalesce(${check.checked_at ?? null}::timestamptz, clock_timestamp()) AS checked_at
      FROM data_sources b JOIN named USING (id) WHERE b.workspace_id = ${workspaceId} FOR NO KEY UPDATE OF b
    ), counted AS (
      INSERT INTO data_months AS m (workspace_id, month, source_checks)
      SELECT ${workspaceId}, ${thisMonth}, 1 FROM before WHERE NOT repeated
      ON CONFLICT (workspace_id, month) DO UPDATE SET source_checks = m.source_checks + 1
    ), noted AS (
      UPDATE data_sources s
      SET health = CASE WHEN ${ok} THEN 'healthy' WHEN b.failures >= ${FAILURES_TO_FAIL}::int THEN 'failed' ELSE s.health END,
          consecutive_failures = CASE WHEN ${ok} THEN 0 ELSE b.failures END,
          last_success_at = CASE WHEN ${ok} THEN greatest(s.last_success_at, b.checked_at) ELSE s.last_success_at END,
          last_failure_at = CASE WHEN ${ok} THEN s.last_failure_at ELSE greatest(s.last_failure_at, b.checked_at) END,
          last_error = CASE WHEN ${ok} THEN s.last_error ELSE ${check.error ?? null} END,
          last_report_key = ${reportKey}
      FROM before b WHERE s.id = b.id AND NOT b.repeated AND s.workspace_id = ${workspaceId}
      RETURNING ${sourceColumns}, b.health AS was
    )
    SELECT * FROM noted
    UNION ALL
    SELECT ${sourceColumns}, s.health AS was
    FROM data_sources s JOIN before b USING (id) WHERE b.repeated AND s.workspace_id = ${workspaceId}
  `);
  if (checked === null) throw notFound('Source');
  await queueHealthEvent(tx, check, checked);
  return checked.source;
}

async function queueHealthEvent(
  tx: Tx,
  check: SourceCheck,
  { was, source }: z.infer<typeof checkedRow>,
): Promise<void> {
  const { status, consecutive_failures } = source.health;
  const { id: source_id, name, is_demo: isDemo } = source;
  if (was !== 'failed' && status === 'failed') {
    const data = { source_id, name, consecutive_failures, error: check.error ?? null };
    const events = [{ type: 'source.failed' as const, isDemo, data }];
    await announceChanges(tx, check.workspaceId, events, check.runId);
  }
  if (was === 'failed' && status === 'healthy') {
    const data = { source_id, name };
    const events = [{ type: 'source.recovered' as const, isDemo, data }];
    await announceChanges(tx, check.workspaceId, events, check.runId);
  }
}

/** A report by the operator of the sources. Throws AppError `not_found`. */
export async function reportSourceAs(
  db: Pool,
  actor: Actor,
  sourceId: string,
  report: SourceReport,
): Promise<SourceDetail> {
  const { workspaceId } = actor;
  return db.transaction(async (tx) => {
    await readSource(tx, { workspaceId, sourceId });
    const source = await reportSource(tx, { ...report, workspaceId, source: sourceId });
    await auditSource(tx, actor, source, 'report', { ok: report.ok });
    return source;
  });
}

const auditSource = (
  db: Db,
  actor: Actor,
  source: Pick<SourceDetail, 'id' | 'name'>,
  action: 'create' | 'update' | 'delete' | 'report',
  details: JsonObject,
): Promise<void> =>
  recordAudit(db, actor, {
    action,
    targetType: 'source',
    targetId: source.id,
    details: { name: source.name, ...details },
  });
