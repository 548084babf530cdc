import type { Allowance } from '#shared/db/data/metering.ts';
import { type ReachedThresholds, recordThresholds } from '#shared/db/data/thresholds.ts';
import type { Pool } from '#shared/db/pool.ts';
import type { Logger } from '#shared/platform/logger.ts';
import { BoundedMap } from '#shared/values/bounded-cache.ts';

/** Percentages of a plan's allowance at which its workspace is notified. */
const PERCENTS = [80, 100];
/** The maximum number of cached notifications. A missing one costs a statement and changes nothing. */
const MAX_REMEMBERED = 10_000;

export interface ThresholdWatch {
  /** Records events for the reached thresholds that have none yet. Never rejects: the next check retries. */
  look(
    workspaceId: string,
    month: string,
    meter: ReachedThresholds['meter'],
    allowance: Allowance,
  ): Promise<void>;
}

/** The database decides what was sent; this cache avoids a query per request. */
export function createThresholdWatch({ db, log }: { db: Pool; log: Logger }): ThresholdWatch {
  const recorded = new BoundedMap<string, true>(MAX_REMEMBERED);
  return {
    look: async (workspaceId, month, meter, { used, limit }) => {
      if (limit === null) return;
      const percents = PERCENTS.filter((percent) => used * 100 >= limit * percent);
      if (percents.length === 0) return;
      const key = [workspaceId, month, meter, limit, ...percents].join(' ');
      if (recorded.has(key)) return;
      try {
        await recordThresholds(db, { workspaceId, month, meter, used, limit, percents });
      } catch (error) {
        log.warn({ err: error, workspaceId, meter }, 'could not record a usage threshold event');
        return;
      }
      recorded.set(key, true);
    },
  };
}
