import { z } from 'zod';
import {
  type GovernanceEvent,
  type GovernanceEventFilter,
  governanceEventSchema,
  type PolicyVerdict,
} from '../contract/governance.ts';
import { type Db, sql } from './pool.ts';

/** A verdict with the place it was given at. What is left out is null in the event. */
export interface GovernanceEntry extends PolicyVerdict {
  workspaceId: string;
  workflowId?: string | null;
  version?: number | null;
  runId?: string | null;
  nodeId?: string | null;
  /** Who decided, where a person did. */
  actorId?: string | null;
}

/** Writes one event, in the transaction of what it tells of. */
export async function recordGovernanceEvent(db: Db, entry: GovernanceEntry): Promise<void> {
  await db.query(sql.prepared('record_governance_event', z.object({}))`
    INSERT INTO governance_events (workspace_id, type, workflow_id, version, run_id, node_id, policy, actor_id,
                                   decision, reason, evidence)
    VALUES (${entry.workspaceId}, ${entry.type}, ${entry.workflowId ?? null}, ${entry.version ?? null}::int,
            ${entry.runId ?? null}, ${entry.nodeId ?? null}, ${entry.policy}, ${entry.actorId ?? null},
            ${entry.decision}, ${entry.reason}, ${JSON.stringify(entry.evidence)}::json)
  `);
}

/** The workspace's events that pass every filter, newest first. */
export async function listGovernanceEvents(
  db: Db,
  workspaceId: string,
  filter: GovernanceEventFilter,
): Promise<readonly GovernanceEvent[]> {
  const conditions = [sql.fragment`workspace_id = ${workspaceId}`];
  if (filter.run_id !== undefined) conditions.push(sql.fragment`run_id = ${filter.run_id}`);
  if (filter.workflow_id !== undefined) {
    conditions.push(sql.fragment`workflow_id = ${filter.workflow_id}`);
  }
  if (filter.event_type !== undefined) conditions.push(sql.fragment`type = ${filter.event_type}`);
  if (filter.decision !== undefined) conditions.push(sql.fragment`decision = ${filter.decision}`);
  return db.any(sql.type(governanceEventSchema)`
    SELECT id, type, workspace_id, workflow_id, version, run_id, node_id, policy, actor_id, decision, reason, evidence,
           created_at
    FROM governance_events WHERE ${sql.join(conditions, sql.fragment` AND `)}
    ORDER BY seq DESC LIMIT ${filter.limit} OFFSET ${filter.offset}
  `);
}
