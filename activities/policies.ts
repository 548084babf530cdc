import { type CallLimit, type Policies, unrestricted } from '#shared/contract/policies/policy.ts';
import { overridesOf } from '#shared/contract/money/price.ts';
import { readStepSettings } from '#shared/db/policies/policies.ts';
import type { Pool } from '#shared/db/pool.ts';
import type { JudgingPolicies } from '#shared/platform/threads/untrusted.ts';
import { compilePolicies } from '#shared/policies/judge.ts';
import type { PriceOverrides } from '#shared/money/prices.ts';
import { BoundedMap } from '#shared/values/bounded-cache.ts';

/** A workspace's policies and prices as this process last read them. */
interface KnownPolicies extends JudgingPolicies {
  revision: number;
  /** The prices that override the price table. */
  prices: PriceOverrides;
  /** The limits of calls. */
  limits: readonly CallLimit[];
}

/**
 * The compiled policies and the prices of the workspaces in this process. They may be out of date: a step start
 * includes the revision, the ledger refuses an outdated one, and the caller then refreshes them.
 */
export interface PolicyCache {
  known(workspaceId: string): KnownPolicies;
  refresh(workspaceId: string): Promise<KnownPolicies>;
}

const MAX_WORKSPACES = 1_000;
/** Most workspaces have no policies, so this is the default until the ledger refuses it. */
const NOTHING_SET: KnownPolicies = { revision: 0, ...ready(unrestricted), prices: {} };

function ready(policies: Policies): JudgingPolicies & Pick<KnownPolicies, 'limits'> {
  const { limits, ...judged } = policies;
  // Judging needs no limits.
  const json = JSON.stringify({ ...judged, limits: [] });
  return { compiled: compilePolicies(policies), json, limits };
}

export function createPolicyCache(db: Pool): PolicyCache {
  const entries = new BoundedMap<string, KnownPolicies>(MAX_WORKSPACES);
  const keep = (workspaceId: string, fresh: KnownPolicies): KnownPolicies => {
    const held = entries.get(workspaceId);
    // Concurrent reads may end in any order.
    const newer = held !== undefined && held.revision > fresh.revision ? held : fresh;
    entries.set(workspaceId, newer);
    return newer;
  };
  return {
    known: (workspaceId) => entries.get(workspaceId) ?? NOTHING_SET,
    refresh: async (workspaceId) => {
      const { revision, policies, prices } = await readStepSettings(db, workspaceId);
      const held = entries.get(workspaceId);
      if (held?.revision === revision) return held;
      return keep(workspaceId, {
        revision,
        ...ready(policies),
        prices: overridesOf(prices),
      });
    },
  };
}
