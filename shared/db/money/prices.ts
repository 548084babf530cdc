import { z } from 'zod';
import type { Actor } from '#shared/people/actor.ts';
import type { Price } from '#shared/contract/money/price.ts';
import { recordAudit } from '#shared/db/audit/audit.ts';
import { nextPolicyRevision } from '#shared/db/policies/policies.ts';
import { type Db, type Pool, sql, statement } from '#shared/db/pool.ts';
import { priceRow, toPrice } from './price-row.ts';

/** The workspace's prices that override the built-in table, by model name. */
export async function listPrices(db: Db, workspaceId: string): Promise<readonly Price[]> {
  const rows = await db.any(statement(priceRow)`
    SELECT model, input_usd_per_million, output_usd_per_million, cached_input_usd_per_million
    FROM workspace_prices WHERE workspace_id = ${workspaceId} ORDER BY model
  `);
  return rows.map(toPrice);
}

/** Replaces all prices of the workspace. They apply to every step that starts after the commit. */
export async function replacePrices(
  db: Pool,
  actor: Actor,
  prices: readonly Price[],
): Promise<void> {
  await db.transaction(async (tx) => {
    // First: its lock keeps concurrent replacements from mixing their sets.
    await nextPolicyRevision(tx, actor.workspaceId);
    await tx.query(statement(z.object({}))`
      DELETE FROM workspace_prices WHERE workspace_id = ${actor.workspaceId}
    `);
    if (prices.length > 0) {
      const rows = prices.map((price) => [
        actor.workspaceId,
        price.model,
        price.input_usd_per_million,
        price.output_usd_per_million,
        price.cached_input_usd_per_million ?? null,
      ]);
      await tx.query(sql.type(z.object({}))`
        INSERT INTO workspace_prices (workspace_id, model, input_usd_per_million, output_usd_per_million,
                                      cached_input_usd_per_million)
        SELECT * FROM ${sql.unnest(rows, ['text', 'text', 'numeric', 'numeric', 'numeric'])}
      `);
    }
    await recordAudit(tx, actor, {
      action: 'price_update',
      targetType: 'workspace',
      targetId: actor.workspaceId,
      details: { models: prices.map((price) => price.model) },
    });
  });
}
