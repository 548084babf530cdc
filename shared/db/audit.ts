import type { Actor } from '../actor.ts';
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
