import { z } from 'zod';
import { thisMonth } from '#shared/db/month.ts';
import { type Db, statement } from '#shared/db/pool.ts';

/** A year and a month, for comparisons with the previous year and for disputes. */
const CHARGES_KEPT_DAYS = 400;
const MONTHS_KEPT = 25;
/** Charges deleted per batch. */
const BATCH = 2_000;

/** Deletes a batch of a workspace's expired charges and months. Returns how many rows. */
export async function deleteExpiredMetering(db: Db, workspaceId: string): Promise<number> {
  const row = z.object({ removed: z.number() });
  return db.oneFirst(statement(row)`
    WITH charges AS (
      DELETE FROM data_charges WHERE seq IN (
        SELECT seq FROM data_charges
        WHERE workspace_id = ${workspaceId}
          AND charged_at < now() - ${CHARGES_KEPT_DAYS}::int * interval '1 day'
        ORDER BY charged_at LIMIT ${BATCH} FOR UPDATE SKIP LOCKED)
      RETURNING 1
    ), oldest AS (
      SELECT (${thisMonth} - ${MONTHS_KEPT}::int * interval '1 month')::date AS month
    ), thresholds AS (
      DELETE FROM data_thresholds d USING oldest o
      WHERE d.workspace_id = ${workspaceId} AND d.month < o.month RETURNING 1
    ), key_months AS (
      DELETE FROM data_key_months d USING oldest o
      WHERE d.workspace_id = ${workspaceId} AND d.month < o.month RETURNING 1
    ), months AS (
      DELETE FROM data_months d USING oldest o
      WHERE d.workspace_id = ${workspaceId} AND d.month < o.month RETURNING 1
    )
    SELECT (SELECT count(*) FROM charges) + (SELECT count(*) FROM thresholds)
         + (SELECT count(*) FROM key_months) + (SELECT count(*) FROM months) AS removed
  `);
}
