import type { Policies } from '#shared/contract/policies/policy.ts';
import type { Pool } from '#shared/db/pool.ts';
import { readCustomToolNames } from '#shared/db/tools/custom-tools.ts';
import { AppError } from '#shared/errors.ts';
import { checkPolicyPatterns } from '#shared/platform/threads/untrusted.ts';
import { limitsProblem } from '#shared/policies/limits.ts';
import { calledAs } from '#shared/tools.ts';

/**
 * Checks what the schema of policies does not. Throws AppError `invalid` for a pattern that is invalid or takes too long to
 * compile, and for a limit of a tool that does not exist or calls nothing, or with an invalid key. Throws WorkBusyError.
 */
export async function checkPolicies(
  db: Pool,
  workspaceId: string,
  policies: Policies,
): Promise<void> {
  await checkPolicyPatterns(workspaceId, policies);
  if (policies.limits.length === 0) return;
  const names = await readCustomToolNames(db, workspaceId);
  const problem = limitsProblem(policies.limits, new Set(names.map(calledAs)));
  if (problem !== undefined) {
    throw new AppError('invalid', `Invalid body: ${problem.path} ${problem.message}`);
  }
}
