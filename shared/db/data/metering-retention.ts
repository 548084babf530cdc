import { z } from 'zod';
import { thisMonth } from '../month.ts';
import { type Db, sql } from '../pool.ts';

/** A year and a month, so that a year can be compared with the one before and disputes have time. */
const CHARGES_KEPT_DAYS = 400;
const MONTHS_KEPT = 25;
/** Charges deleted at once. */
const BATCH = 2_000;

/** Deletes a batch of a workspace's charges and months that are past their time. Returns how many rows went. */
export async function deleteExpiredMetering(db: Db, workspaceId: string): Promise<number> {
  const row = z.object({ removed: z.number() });
  return db.oneFirst(sql.prepared('data_delete_metering', row)`
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
