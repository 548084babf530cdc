import { z } from 'zod';
import {
  type GovernanceEvent,
  type GovernanceEventFilter,
  governanceEventSchema,
  type PolicyVerdict,
} from '#shared/contract/policies/governance.ts';
import { offsetClause } from '#shared/db/cursor.ts';
import { type Db, sql, statement } from '#shared/db/pool.ts';

/** A verdict with its run, step and node. Absent fields are null in the event. */
export interface GovernanceEntry extends PolicyVerdict {
  workspaceId: string;
  workflowId?: string | null;
  version?: number | null;
  runId?: string | null;
  nodeId?: string | null;
  /** The person who decided, if any. */
  actorId?: string | null;
}

/** Writes one event, in the transaction of the decision. */
export async function recordGovernanceEvent(db: Db, entry: GovernanceEntry): Promise<void> {
  await db.query(statement(z.object({}))`
    INSERT INTO governance_events (workspace_id, type, workflow_id, version, run_id, node_id, policy, actor_id,
                                   decision, reason, evidence)
    VALUES (${entry.workspaceId}, ${entry.type}, ${entry.workflowId ?? null}, ${entry.version ?? null}::int,
            ${entry.runId ?? null}, ${entry.nodeId ?? null}, ${entry.policy}, ${entry.actorId ?? null},
            ${entry.decision}, ${entry.reason}, ${JSON.stringify(entry.evidence)}::json)
  `);
}

/**
 * Adds a verdict to a running step, with an event, unless the step already has it. Does nothing when another attempt
 * holds the claim. A step that waits for a child has no claim.
 */
export async function recordStepVerdict(
  db: Db,
  step: { runId: string; stepKey: string; claim: string | null },
  verdict: PolicyVerdict,
): Promise<void> {
  await db.query(statement(z.object({}))`
    WITH step AS (
      UPDATE steps SET policy = (policy::jsonb || ${JSON.stringify([verdict])}::jsonb)::json
      WHERE run_id = ${step.runId} AND step_key = ${step.stepKey} AND claim IS NOT DISTINCT FROM ${step.claim}
        AND NOT policy::jsonb @> ${JSON.stringify([verdict])}::jsonb
      RETURNING run_id, node_id
    )
    SELECT record_verdicts_1(run_id, node_id, ${JSON.stringify([verdict])}, '[]') FROM step
  `);
}

/** The workspace's events that match all filters, newest first. */
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
    ORDER BY seq DESC ${offsetClause(filter)}
  `);
}
