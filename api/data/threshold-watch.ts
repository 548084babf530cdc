import type { Allowance } from '../../shared/db/data/metering.ts';
import { type ReachedThresholds, tellThresholds } from '../../shared/db/data/thresholds.ts';
import type { Pool } from '../../shared/db/pool.ts';
import type { Logger } from '../../shared/platform/logger.ts';

/** Shares of a plan's allowance at which its workspace is told. */
const PERCENTS = [80, 100];
/** Tellings remembered at most; past that, one that is looked at again costs a statement and changes nothing. */
const MAX_TOLD = 10_000;

export interface ThresholdWatch {
  /** Tells of the shares that are used up and were not told of. Never rejects: the next look will tell then. */
  look(
    workspaceId: string,
    month: string,
    meter: ReachedThresholds['meter'],
    allowance: Allowance,
  ): Promise<void>;
}

/** The database decides what was told; this remembers it, so that it is not asked again with every request. */
export function createThresholdWatch({ db, log }: { db: Pool; log: Logger }): ThresholdWatch {
  const told = new Set<string>();
  return {
    look: async (workspaceId, month, meter, { used, limit }) => {
      if (limit === null) return;
      const percents = PERCENTS.filter((percent) => used * 100 >= limit * percent);
      if (percents.length === 0) return;
      const telling = [workspaceId, month, meter, limit, ...percents].join(' ');
      if (told.has(telling)) return;
      try {
        await tellThresholds(db, { workspaceId, month, meter, used, limit, percents });
      } catch (error) {
        log.warn({ err: error, workspaceId, meter }, 'could not tell of a used-up allowance');
        return;
      }
      told.add(telling);
      const [oldest = telling] = told;
      if (told.size > MAX_TOLD) told.delete(oldest);
    },
  };
}
