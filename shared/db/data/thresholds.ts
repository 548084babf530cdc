import { z } from 'zod';
import { type Pool, sql, statement } from '#shared/db/pool.ts';
import { queueEvents } from '#shared/db/webhooks/outbound-events.ts';

export interface ReachedThresholds {
  workspaceId: string;
  /** `2026-11-01`. */
  month: string;
  meter: 'requests' | 'credits';
  used: number;
  limit: number;
  /** The thresholds that were reached, as percentages of the limit. */
  percents: readonly number[];
}

/** Queues `usage.threshold_reached` for each threshold, once across all processes. */
export async function recordThresholds(db: Pool, reached: ReachedThresholds): Promise<void> {
  const { workspaceId, month, meter, used, limit, percents } = reached;
  await db.transaction(async (tx) => {
    const unrecorded = await tx.anyFirst(statement(z.object({ percent: z.number() }))`
      INSERT INTO data_thresholds (workspace_id, month, meter, allowance, percent)
      SELECT ${workspaceId}, ${month}::date, ${meter}, ${limit}::bigint, percent
      FROM unnest(${sql.array([...percents], 'int4')}) AS percent ORDER BY percent
      ON CONFLICT DO NOTHING RETURNING percent
    `);
    const events = unrecorded.map((percent) => ({
      type: 'usage.threshold_reached' as const,
      isDemo: null,
      data: { meter, percent, used, limit, month: month.slice(0, 7) },
    }));
    await queueEvents(tx, workspaceId, events);
  });
}
