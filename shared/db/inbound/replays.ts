import { z } from 'zod';
import {
  KEPT_BODY_BYTES,
  type ReplayRange,
  refusalReasons,
  unverifiedReasons,
} from '#shared/contract/inbound/inbound-event.ts';
import { notFound } from '#shared/errors.ts';
import type { JsonObject } from '#shared/json.ts';
import { type Db, type FragmentSqlToken, sql, statement } from '#shared/db/pool.ts';
import { storedJson } from '#shared/db/stored-json.ts';

const replayableRow = z.object({
  id: z.string(),
  workflow_id: z.string(),
  reason: z.enum(refusalReasons).nullable(),
  event_id: z.string().nullable(),
  size: z.number().nullable(),
  /** In base64; null: the body was not read. */
  body: z.string().nullable(),
  /** For a run or event whose body is not completely in the log: its input or data, unless it was deleted. */
  input: storedJson<JsonObject | null>(),
  event_id_field: z.string(),
  event_id_header: z.string().nullable(),
  accept_forms: z.boolean(),
  /** The event that the webhook sends; null: it starts runs. */
  sends: z.string().nullable(),
  content_type: z.string().nullable(),
  dedup_window_seconds: z.number(),
});
/** A log entry with everything a replay needs, and the settings of its webhook. */
export type ReplayableEvent = z.infer<typeof replayableRow>;

/** Columns of entries `e` with the webhooks `h` of their workflows. */
const replayableColumns = sql.fragment`
  e.id, e.workflow_id, e.reason, e.event_id, e.size, encode(e.body, 'base64') AS body, h.event_id_field,
  h.dedup_window_seconds, h.event_id_header, h.accept_forms, h.event AS sends, e.headers->>'content-type' AS content_type,
  CASE WHEN e.size <= ${KEPT_BODY_BYTES}::int THEN NULL
    WHEN e.outcome = 'run' THEN (SELECT r.input FROM runs r WHERE r.id = e.run_id)
    WHEN e.outcome = 'event' THEN (SELECT s.data FROM events s WHERE s.id = e.sent_event_id) END AS input`;

/** Throws AppError `not_found`. */
export async function readReplayable(
  db: Db,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<ReplayableEvent> {
  const row = await db.maybeOne(statement(replayableRow)`
    SELECT ${replayableColumns}
    FROM inbound_events e JOIN workflow_webhooks h ON h.workflow_id = e.workflow_id
    WHERE e.id = ${id} AND h.workspace_id = ${workspaceId}
  `);
  if (row === null) throw notFound('Event');
  return row;
}

/** Which events to replay. `until` is ISO 8601. */
export interface ReplayScope extends Omit<ReplayRange, 'until'> {
  workspaceId: string;
  workflowId: string;
  jobId: string;
  until: string;
}

/** Entries `e` with a complete body that is a valid input, from known or accepted senders. */
function chosen(scope: ReplayScope): FragmentSqlToken {
  const { outcome, allow_unverified: allowUnverified } = scope;
  return sql.fragment`
    e.workflow_id = ${scope.workflowId} AND h.workspace_id = ${scope.workspaceId}
    AND e.received_at >= ${scope.since}::timestamptz AND e.received_at < ${scope.until}::timestamptz
    AND e.body IS NOT NULL AND (e.size <= ${KEPT_BODY_BYTES}::int OR e.outcome IN ('run', 'event'))
    AND e.reason IS DISTINCT FROM 'invalid_body'
    AND (${allowUnverified} OR e.reason IS NULL OR e.reason <> ALL (${sql.array([...unverifiedReasons], 'text')}))
    AND (${outcome === 'all'} OR e.outcome = 'refused')
    AND (${outcome === 'all'} OR NOT EXISTS (
      SELECT FROM inbound_event_replays p WHERE p.event_id = e.id AND p.job_id IS DISTINCT FROM ${scope.jobId}))`;
}

/** The number of events in a replay. */
export const countReplayable = (db: Db, scope: ReplayScope): Promise<number> =>
  db.oneFirst(statement(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM (
      SELECT FROM inbound_events e JOIN workflow_webhooks h ON h.workflow_id = e.workflow_id
      WHERE ${chosen(scope)} LIMIT ${scope.limit}::int) AS counted
  `);

/** The position after an event. The time is in the format of Postgres. */
export const replayPosition = z.object({ at: z.string(), id: z.string() });
export type ReplayPosition = z.infer<typeof replayPosition>;

const pageRow = replayableRow.extend({ at: z.string() });

/** The next events of a replay, oldest first. */
export const nextReplayable = (
  db: Db,
  scope: ReplayScope,
  { after, limit }: { after: ReplayPosition | null; limit: number },
): Promise<readonly z.infer<typeof pageRow>[]> =>
  db.any(statement(pageRow)`
    SELECT ${replayableColumns}, e.received_at::text AS at
    FROM inbound_events e JOIN workflow_webhooks h ON h.workflow_id = e.workflow_id
    WHERE ${chosen(scope)}
      AND (e.received_at, e.id) > (${after?.at ?? '-infinity'}::timestamptz, ${after?.id ?? ''})
    ORDER BY e.received_at, e.id LIMIT ${limit}::int
  `);

/** Whether this replay of several events started the run. */
export const isReplayOf = (
  db: Db,
  { runId, jobId }: { runId: string; jobId: string },
): Promise<boolean> =>
  db.exists(statement(z.object({}))`
    SELECT FROM inbound_event_replays WHERE run_id = ${runId} AND job_id = ${jobId}
  `);
