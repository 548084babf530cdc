import type { Actor } from '../actor.ts';
import { type AuditEntry as LoggedEntry, auditEntrySchema } from '../contract/audit.ts';
import type { JsonObject } from '../json.ts';
import { newId } from '../platform/ids.ts';
import { type Db, sql } from './pool.ts';
import { z } from 'zod';

export interface AuditEntry {
  action: string;
  targetType: string;
  targetId: string;
  details?: JsonObject;
}

/** Appends one entry, in the transaction of the act it records. */
export async function recordAudit(
  db: Db,
  actor: Pick<Actor, 'workspaceId' | 'id' | 'name'>,
  entry: AuditEntry,
): Promise<void> {
  await db.query(sql.prepared('record_audit', z.object({}))`
    INSERT INTO audit_log (id, workspace_id, action, actor_id, actor_name, target_type, target_id, details)
    VALUES (${newId('audit')}, ${actor.workspaceId}, ${entry.action}, ${actor.id}, ${actor.name},
            ${entry.targetType}, ${entry.targetId}, ${JSON.stringify(entry.details ?? {})}::jsonb)
  `);
}

const entryColumns = sql.fragment`
  a.id, a.action, a.actor_id, a.actor_name, a.target_type, a.target_id, a.details, a.created_at`;

/** What a member did last, newest first. */
export async function listActionsOf(
  db: Db,
  of: { workspaceId: string; actorId: string; limit: number },
): Promise<LoggedEntry[]> {
  const entries = await db.any(sql.prepared('audit_list_actions', auditEntrySchema)`
    SELECT ${entryColumns} FROM audit_log a
    WHERE a.workspace_id = ${of.workspaceId} AND a.actor_id = ${of.actorId}
    ORDER BY a.seq DESC LIMIT ${of.limit}
  `);
  return [...entries];
}

const total = z.object({ total: z.number() });

/**
 * A page of the log, newest first, and how many entries there are. The total is what the chain holds and what waits to
 * be sealed, which costs the same at any size; counting a million entries takes longer than everything else here.
 */
export async function listAudit(
  db: Db,
  page: { workspaceId: string; limit: number; offset: number },
): Promise<{ logs: LoggedEntry[]; total: number }> {
  // The page is found in the index alone, so that entries passed over are not read.
  const logs = await db.any(sql.prepared('audit_list', auditEntrySchema)`
    SELECT ${entryColumns}
    FROM (SELECT seq FROM audit_log WHERE workspace_id = ${page.workspaceId}
          ORDER BY seq DESC LIMIT ${page.limit} OFFSET ${page.offset}) p
    JOIN audit_log a ON a.seq = p.seq AND a.workspace_id = ${page.workspaceId}
    ORDER BY a.seq DESC
  `);
  return {
    logs: [...logs],
    total: await db.oneFirst(sql.prepared('audit_total', total)`
      SELECT coalesce((SELECT head_position - base_position FROM audit_chains
                       WHERE workspace_id = ${page.workspaceId}), 0)
           + (SELECT count(*) FROM audit_unsealed WHERE workspace_id = ${page.workspaceId}) AS total
    `),
  };
}
