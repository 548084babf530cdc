import type { Actor } from '#shared/people/actor.ts';
import {
  type AuditAction,
  type AuditEntry as LoggedEntry,
  auditEntrySchema,
  type AuditFilter,
  type AuditTarget,
} from '#shared/contract/audit/audit.ts';
import type { JsonObject } from '#shared/json.ts';
import { newId } from '#shared/crypto/ids.ts';
import { noteTransaction, transactionId } from '#shared/db/commit-outcome.ts';
import { type Db, type FragmentSqlToken, sql, statement } from '#shared/db/pool.ts';
import { z } from 'zod';

export interface AuditEntry {
  action: AuditAction;
  targetType: AuditTarget;
  targetId: string;
  details?: JsonObject;
}

/** The query for an entry that traces its transaction. */
const auditRow = (id: string) => sql.fragment`SELECT FROM audit_log WHERE id = ${id}`;

/**
 * Appends one entry, in the transaction of the action it records, and stores a trace of that transaction, so that its
 * outcome can be looked up if the connection is lost during the commit.
 */
export async function recordAudit(
  db: Db,
  actor: Pick<Actor, 'workspaceId' | 'id' | 'name'>,
  entry: AuditEntry,
): Promise<void> {
  const auditId = newId('audit');
  const id = await db.oneFirst(statement(z.object({ id: z.string() }))`
    INSERT INTO audit_log (id, workspace_id, action, actor_id, actor_name, target_type, target_id, details)
    VALUES (${auditId}, ${actor.workspaceId}, ${entry.action}, ${actor.id}, ${actor.name},
            ${entry.targetType}, ${entry.targetId}, ${JSON.stringify(entry.details ?? {})}::jsonb)
    RETURNING ${transactionId} AS id
  `);
  noteTransaction(db, id, auditRow(auditId));
}

/** Looked up by primary key, only for the rows of a page. */
const targetName = sql.fragment`
  CASE a.target_type
    WHEN 'workflow' THEN (SELECT name FROM workflows WHERE id = a.target_id AND workspace_id = a.workspace_id)
    WHEN 'run' THEN (SELECT w.name FROM runs r JOIN workflows w ON w.id = r.workflow_id
                     WHERE r.id = a.target_id AND r.workspace_id = a.workspace_id)
    WHEN 'member' THEN (SELECT name FROM members WHERE id = a.target_id AND workspace_id = a.workspace_id)
    WHEN 'api_key' THEN (SELECT name FROM api_keys WHERE id = a.target_id AND workspace_id = a.workspace_id)
    WHEN 'authorization' THEN (SELECT client_name FROM authorizations WHERE id = a.target_id AND workspace_id = a.workspace_id)
    WHEN 'workspace' THEN (SELECT name FROM workspaces WHERE id = a.target_id AND id = a.workspace_id)
    WHEN 'budget' THEN (SELECT name FROM budgets WHERE id = a.target_id AND workspace_id = a.workspace_id)
    WHEN 'connection' THEN (SELECT name FROM connections WHERE id = a.target_id AND workspace_id = a.workspace_id)
    WHEN 'tool' THEN (SELECT name FROM custom_tools WHERE id = a.target_id AND workspace_id = a.workspace_id)
    WHEN 'secret' THEN (SELECT name FROM secrets WHERE name = a.target_id AND workspace_id = a.workspace_id)
    WHEN 'template' THEN (SELECT name FROM templates WHERE id = a.target_id AND workspace_id = a.workspace_id)
    WHEN 'feed' THEN (SELECT name FROM data_feeds WHERE id = a.target_id AND workspace_id = a.workspace_id)
    WHEN 'source' THEN (SELECT name FROM data_sources WHERE id = a.target_id AND workspace_id = a.workspace_id)
    WHEN 'data_key' THEN (SELECT name FROM data_keys WHERE id = a.target_id AND workspace_id = a.workspace_id)
    WHEN 'data_webhook' THEN (SELECT url FROM data_endpoints WHERE id = a.target_id AND workspace_id = a.workspace_id)
  END`;

const entryColumns = sql.fragment`
  a.id, a.action, a.actor_id, a.actor_name, a.target_type, a.target_id, ${targetName} AS target_name, a.details,
  a.created_at`;

/** A member's activity, newest first. */
export async function listActionsOf(
  db: Db,
  of: { workspaceId: string; actorId: string; limit: number },
): Promise<LoggedEntry[]> {
  const entries = await db.any(statement(auditEntrySchema)`
    SELECT ${entryColumns} FROM audit_log a
    WHERE a.workspace_id = ${of.workspaceId} AND a.actor_id = ${of.actorId}
    ORDER BY a.seq DESC LIMIT ${of.limit}
  `);
  return [...entries];
}

const total = z.object({ total: z.number() });

const filteredColumns = ['action', 'actor_id', 'target_type', 'target_id'] as const;

/** A page of the entries that match all filters, newest first, and their total. */
export async function listAudit(
  db: Db,
  workspaceId: string,
  filter: AuditFilter,
): Promise<{ logs: LoggedEntry[]; total: number }> {
  const { limit, offset, since, until } = filter;
  const equal = filteredColumns.flatMap((column) => {
    const value = filter[column];
    return value === undefined ? [] : [sql.fragment`${sql.identifier([column])} = ${value}`];
  });
  const between = [
    ...(since === undefined ? [] : [sql.fragment`created_at >= ${instant(since)}`]),
    ...(until === undefined ? [] : [sql.fragment`created_at < ${instant(until)}`]),
  ];
  const of = sql.fragment`workspace_id = ${workspaceId}`;
  const where = sql.fragment`${sql.join([of, ...equal, ...between], sql.fragment` AND `)}`;
  // An index serves each filter in one of these orders. They differ only for entries written at the same time.
  const [place, order] =
    between.length > 0 && equal.length === 0
      ? [sql.fragment`seq, created_at`, sql.fragment`p.created_at DESC, p.seq DESC`]
      : [sql.fragment`seq`, sql.fragment`p.seq DESC`];
  // An index-only scan finds the page, so that skipped entries are not read. The planner does not know the page size,
  // so the query forces the lookup entry by entry.
  const logs = await db.any(sql.type(auditEntrySchema)`
    SELECT ${entryColumns}
    FROM (SELECT ${place} FROM audit_log p WHERE ${where} ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}) p
    CROSS JOIN LATERAL (SELECT * FROM audit_log WHERE seq = p.seq AND ${of} LIMIT 1) a
    ORDER BY ${order}
  `);
  // A partial page is the last one.
  if (logs.length < limit && (logs.length > 0 || offset === 0)) {
    return { logs: [...logs], total: offset + logs.length };
  }
  const filtered = equal.length + between.length > 0;
  const count = filtered ? countEntries(db, where) : countAllEntries(db, workspaceId);
  return { logs: [...logs], total: await count };
}

/** A literal, because the planner must know how much of the log the time range covers. */
const instant = (time: string): FragmentSqlToken =>
  sql.fragment`${sql.literalValue(time)}::timestamptz`;

async function countEntries(db: Db, where: FragmentSqlToken): Promise<number> {
  return db.oneFirst(sql.type(total)`SELECT count(*) AS total FROM audit_log WHERE ${where}`);
}

/**
 * Adds the sealed count of the chain and the unsealed entries, at a constant cost. Counting a million log entries would
 * take longer than the rest of the request.
 */
async function countAllEntries(db: Db, workspaceId: string): Promise<number> {
  return db.oneFirst(statement(total)`
    SELECT coalesce((SELECT head_position - base_position FROM audit_chains
                     WHERE workspace_id = ${workspaceId}), 0)
         + (SELECT count(*) FROM audit_unsealed WHERE workspace_id = ${workspaceId}) AS total
  `);
}
