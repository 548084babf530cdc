import type { CallLimit } from '#shared/contract/policies/policy.ts';
import { recordStepVerdict } from '#shared/db/policies/governance.ts';
import { takeFurtherCalls } from '#shared/db/steps/call-limits.ts';
import type { StepCall } from '#shared/execution.ts';
import type { Judgment } from '#shared/policies/judge.ts';
import type { Attempt } from './attempt.ts';
import { limitedFallback } from './call-limits.ts';
import type { Claim, ExecuteNodeDeps } from './step-context.ts';
import { whileAlive } from './until-stored.ts';

export interface Fallbacks {
  mayFallBack: (model: string) => Promise<boolean>;
  /** Whether calls of limits may have been taken for one. */
  hasTaken: () => boolean;
}

/**
 * Whether an attempt can use a fallback model: if the policies allow it, and their limits have a free call of it, which is
 * then taken. A refusal is recorded.
 */
export function fallbacksOf(
  deps: ExecuteNodeDeps,
  attempt: Attempt,
  { run_id: runId, step_key: stepKey, workspace_id: workspaceId }: StepCall,
  {
    judgment,
    claim: { claim, given, limits },
  }: {
    judgment: Judgment;
    claim: Pick<Claim, 'claim'> & { given: StepCall; limits: readonly CallLimit[] };
  },
): Fallbacks {
  let taken = false;
  return {
    hasTaken: () => taken,
    mayFallBack: async (model) => {
      const verdict = judgment.fallbackVerdict(model);
      if (verdict !== undefined) {
        const step = { runId, stepKey, claim };
        await whileAlive(attempt, () => recordStepVerdict(deps.db, step, verdict));
        return false;
      }
      const calls = limitedFallback(limits, { call: given, stored: judgment.stored }, model);
      if (calls.length === 0) return true;
      taken = true;
      const step = { runId, workspaceId, stepKey, claim };
      return whileAlive(attempt, () => takeFurtherCalls(deps.db, step, calls));
    },
  };
}
