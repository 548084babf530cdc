import { callKey, type TurnRecord } from '#shared/agents/turn-record.ts';
import type { JsonObject } from '#shared/json.ts';
import { BoundedMap } from '#shared/values/bounded-cache.ts';

/** The maximum number of calls, over all runs of this worker. The arguments of older ones are read from the ledger. */
const MAX_CALLS = 1_000;
/** The maximum length of a call's arguments in characters. Longer ones are not cached. */
const MAX_ARGUMENTS = 10_000;

/** The Temporal run id of the execution, and the run. */
interface Source {
  execution: string;
  runId: string;
}

export interface RecentCalls {
  /**
   * Caches the arguments of the calls that a turn requested, once it is stored. Those that need approval are not
   * cached.
   */
  keep: (
    source: Source & { agentKey: string; turn: number },
    record: Pick<TurnRecord, 'calls'>,
  ) => void;
  /**
   * The arguments of a call that the same execution requested. They are returned only once. Undefined: read them from
   * the ledger.
   */
  take: (source: Source & { stepKey: string }) => JsonObject | undefined;
}

/**
 * Caches arguments between the turn that requested a call and the first attempt at it, when one worker does both: the
 * attempt needs no read. A later attempt, or one of another execution, finds nothing here, because the ledger may know
 * more about the call by then.
 */
export function createRecentCalls(): RecentCalls {
  const kept = new BoundedMap<string, JsonObject>(MAX_CALLS);
  const keyOf = ({ execution, runId }: Source, stepKey: string): string =>
    `${execution}/${runId}/${stepKey}`;
  return {
    keep: (source, { calls }) => {
      for (const { index, arguments: args, question } of calls) {
        if (args === undefined || question !== undefined) continue;
        if (JSON.stringify(args).length > MAX_ARGUMENTS) continue;
        kept.set(keyOf(source, callKey(source.agentKey, source.turn, index)), args);
      }
    },
    take: (source) => {
      const key = keyOf(source, source.stepKey);
      const args = kept.get(key);
      kept.delete(key);
      return args;
    },
  };
}
