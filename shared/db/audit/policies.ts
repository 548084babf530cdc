import { z } from 'zod';
import type { Actor } from '../../actor.ts';
import { type Policies, policiesSchema, unrestricted } from '../../contract/policy.ts';
import { recordAudit } from './audit.ts';
import { type Db, type Pool, sql } from '../pool.ts';

export interface PolicyRevision {
  /** Increases with every replacement; 0 when no policies were ever set. */
  revision: number;
  policies: Policies;
}

const policyRow = z.object({ revision: z.number(), policies: policiesSchema.nullable() });

/** The policies with their revision, as of one moment. A workspace without policies is unrestricted. */
export async function readPolicies(db: Db, workspaceId: string): Promise<PolicyRevision> {
  const row = await db.maybeOne(sql.prepared('policies_read', policyRow)`
    SELECT w.policy_revision AS revision, p.policies
    FROM workspaces w LEFT JOIN workspace_policies p ON p.workspace_id = w.id WHERE w.id = ${workspaceId}
  `);
  return { revision: row?.revision ?? 0, policies: row?.policies ?? unrestricted };
}

/** Replaces all policies. They apply to every step that starts after the commit. */
export async function replacePolicies(db: Pool, actor: Actor, policies: Policies): Promise<void> {
  await db.transaction(async (tx) => {
    // Locks the workspace's row first, which serializes concurrent replacements.
    const revision = await tx.oneFirst(sql.prepared(
      'policies_next_revision',
      z.object({ policy_revision: z.number() }),
    )`
      UPDATE workspaces SET policy_revision = policy_revision + 1 WHERE id = ${actor.workspaceId}
      RETURNING policy_revision
    `);
    await tx.query(sql.prepared('policies_replace', z.object({}))`
      INSERT INTO workspace_policies (workspace_id, policies)
      VALUES (${actor.workspaceId}, ${JSON.stringify(policies)}::json)
      ON CONFLICT (workspace_id) DO UPDATE SET policies = excluded.policies, updated_at = now()
    `);
    await recordAudit(tx, actor, {
      action: 'policy_update',
      targetType: 'workspace',
      targetId: actor.workspaceId,
      details: {
        revision,
        models: policies.model_allowlist?.length ?? null,
        tools: policies.tools.map((tool) => tool.tool),
        detectors: policies.redaction.detectors,
        patterns: policies.redaction.patterns.map((pattern) => pattern.name),
      },
    });
  });
}
