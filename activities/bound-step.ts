import { findBound } from '#shared/db/gates/shown.ts';
import { recordStepVerdict } from '#shared/db/policies/governance.ts';
import type { StepCall } from '#shared/execution.ts';
import { differencesFrom } from '#shared/graph/consequences/binding.ts';
import type { JsonObject } from '#shared/json.ts';
import { NodeError } from './nodes/node.ts';
import type { ExecuteNodeDeps } from './step-context.ts';

/**
 * Compares what a step is about to send with what was shown when the gate before it was decided. Throws NodeError when
 * they differ, and records it: then nothing is sent.
 */
export async function requireAsShown(
  { db, metrics }: Pick<ExecuteNodeDeps, 'db' | 'metrics'>,
  { run_id: runId, step_key: stepKey, node, params, bound, agent }: StepCall,
  claim: string,
): Promise<void> {
  // The turns and calls of an agent are not shown one by one.
  if (bound !== true || agent !== undefined) return;
  const found = await findBound(db, { runId, nodeId: node.id, stepKey });
  if (found === undefined) return;
  const tool = node.kind === 'tool' ? node.tool_name : undefined;
  const different = differencesFrom(found.shown, { tool, arguments: sentBy(node.kind, params) });
  if (different.length === 0) return;
  metrics?.mismatched();
  const reason = `Not sent: ${different.join(', ')} would not be what gate '${found.gateKey}' showed`;
  await recordStepVerdict(
    db,
    { runId, stepKey, claim },
    {
      ...{ type: 'approval_mismatch', policy: 'approval', decision: 'blocked', reason },
      evidence: { gate: found.gateKey, step_key: stepKey, paths: different },
    },
  );
  throw new NodeError(reason, { retryable: false, kind: 'policy' });
}

/** An agent's parameters include its mock, which is not sent. */
function sentBy(kind: StepCall['node']['kind'], params: JsonObject): JsonObject {
  if (kind === 'tool') return params;
  const { mock: _mock, ...prompts } = params;
  return prompts;
}
