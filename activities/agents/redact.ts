import type { PolicyVerdict } from '#shared/contract/policies/governance.ts';
import type { Json } from '#shared/json.ts';
import {
  type Evaluating,
  type JudgingPolicies,
  judgeUntrusted,
} from '#shared/platform/threads/untrusted.ts';

/** A value as the workspace's policies let it out, and the verdict if something was redacted. */
export type Redact = (value: Json) => Promise<{ value: Json; verdicts: readonly PolicyVerdict[] }>;

/**
 * Redacts results of tools, which a model reads. A value that cannot be searched in time is withheld. Throws
 * CostlyError where it may not wait for a thread.
 */
export const createRedact =
  (workspaceId: string, policies: JudgingPolicies, evaluating: Evaluating): Redact =>
  async (value) => {
    // A tool of this name has no rules, so only redaction applies.
    const node = { id: 'result', kind: 'tool', tool_name: ' result', params: {} } as const;
    const step = { workflowId: '', node, params: { value }, state: {} };
    const { params, refusal, verdicts } = await judgeUntrusted(workspaceId, policies, step, {
      ...evaluating,
      // The model has answered, or the tool was called.
      patient: true,
    });
    if (refusal !== undefined) return { value: `[withheld: ${refusal}]`, verdicts };
    return { value: params['value'] ?? null, verdicts };
  };
