import type { PolicyVerdict } from '#shared/contract/policies/governance.ts';
import type { Json } from '#shared/json.ts';
import {
  type Evaluating,
  type JudgingPolicies,
  judgeUntrusted,
} from '#shared/platform/threads/untrusted.ts';

/** A value as redacted by the workspace's policies, and the verdict if something was redacted. */
export type Redact = (value: Json) => Promise<{ value: Json; verdicts: readonly PolicyVerdict[] }>;

/**
 * Redacts results of tools, which a model reads. A value that cannot be searched in time is withheld. Throws
 * CostlyError if it must not wait for a thread.
 */
export const createRedact =
  (workspaceId: string, policies: JudgingPolicies, evaluating: Evaluating): Redact =>
  async (value) => {
    // No rules apply to a tool of this name, so only redaction does.
    const node = { id: 'result', kind: 'tool', tool_name: ' result', params: {} } as const;
    const step = { workflowId: '', node, params: { value }, state: {} };
    const { params, refusal, verdicts } = await judgeUntrusted(workspaceId, policies, step, {
      ...evaluating,
      // The model has already answered, or the tool was already called.
      patient: true,
    });
    if (refusal !== undefined) return { value: `[withheld: ${refusal}]`, verdicts };
    return { value: params['value'] ?? null, verdicts };
  };
