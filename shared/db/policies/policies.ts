import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import { type Policies, policiesSchema, unrestricted } from '#shared/contract/policies/policy.ts';
import type { Price } from '#shared/contract/money/price.ts';
import { priceRow, toPrice } from '#shared/db/money/price-row.ts';
import { wakeCallWaits } from '#shared/db/steps/call-limits.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { type Db, type Pool, statement } from '#shared/db/pool.ts';

export interface PolicyRevision {
  /** Increases with every change of the policies or the prices; 0 when neither was ever set. */
  revision: number;
  policies: Policies;
}

const policyRow = z.object({ revision: z.number(), policies: policiesSchema.nullable() });

/** The policies with their revision, as of one moment. A workspace without policies is unrestricted. */
export async function readPolicies(db: Db, workspaceId: string): Promise<PolicyRevision> {
  const row = await db.maybeOne(statement(policyRow)`
    SELECT w.policy_revision AS revision, p.policies
    FROM workspaces w LEFT JOIN workspace_policies p ON p.workspace_id = w.id WHERE w.id = ${workspaceId}
  `);
  return { revision: row?.revision ?? 0, policies: row?.policies ?? unrestricted };
}

const settingsRow = policyRow.extend({ prices: z.array(priceRow) });

/** What a workspace's steps are judged and priced by, as of one moment. The prices override the built-in table. */
export async function readStepSettings(
  db: Db,
  workspaceId: string,
): Promise<PolicyRevision & { prices: readonly Price[] }> {
  const row = await db.maybeOne(statement(settingsRow)`
    SELECT w.policy_revision AS revision, p.policies, (
      SELECT coalesce(json_agg(json_build_object(
        'model', c.model,
        'input_usd_per_million', c.input_usd_per_million,
        'output_usd_per_million', c.output_usd_per_million,
        'cached_input_usd_per_million', c.cached_input_usd_per_million)), '[]')
      FROM workspace_prices c WHERE c.workspace_id = w.id) AS prices
    FROM workspaces w LEFT JOIN workspace_policies p ON p.workspace_id = w.id WHERE w.id = ${workspaceId}
  `);
  return {
    revision: row?.revision ?? 0,
    policies: row?.policies ?? unrestricted,
    prices: (row?.prices ?? []).map(toPrice),
  };
}

/**
 * Makes the next step of every run read policies and prices again. Locks the workspace's row, which serializes
 * concurrent changes.
 */
export const nextPolicyRevision = (tx: Db, workspaceId: string): Promise<number> =>
  tx.oneFirst(statement(z.object({ policy_revision: z.number() }))`
    UPDATE workspaces SET policy_revision = policy_revision + 1 WHERE id = ${workspaceId}
    RETURNING policy_revision
  `);

/** Replaces all policies. They apply to every step that starts after the commit. */
export async function replacePolicies(db: Pool, actor: Actor, policies: Policies): Promise<void> {
  await db.transaction(async (tx) => {
    const revision = await nextPolicyRevision(tx, actor.workspaceId);
    const { policies: before } = await readPolicies(tx, actor.workspaceId);
    await tx.query(statement(z.object({}))`
      INSERT INTO workspace_policies (workspace_id, policies)
      VALUES (${actor.workspaceId}, ${JSON.stringify(policies)}::json)
      ON CONFLICT (workspace_id) DO UPDATE SET policies = excluded.policies, updated_at = now()
    `);
    if (JSON.stringify(before.limits) !== JSON.stringify(policies.limits)) {
      await wakeCallWaits(tx, actor.workspaceId);
    }
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
        limits: policies.limits.length,
      },
    });
  });
}
