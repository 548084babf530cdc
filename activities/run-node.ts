import { nodeLabel } from '../shared/graph/compile.ts';
import { defaultTimeoutSeconds, type ExecutedNode } from '../shared/graph/kinds.ts';
import type { StepCall } from '../shared/execution.ts';
import type { Json } from '../shared/json.ts';
import type { Attempt } from './attempt.ts';
import { type Consumption, NodeError } from './nodes/node.ts';
import { tracedAgent, tracedTool } from './spans.ts';
import { type Claim, type ExecuteNodeDeps, spendingOf } from './step-context.ts';

const MAX_OUTPUT_BYTES = 10_000_000;

export async function runNode(
  deps: ExecuteNodeDeps,
  attempt: Attempt,
  call: StepCall,
  claim: Pick<Claim, 'errors' | 'generation' | 'budgeted' | 'customTool'>,
  mayFallBack?: (model: string) => Promise<boolean>,
): Promise<{ output: Json } & Consumption> {
  const { node } = call;
  const timeout = timeoutOf(node);
  const common = {
    workspaceId: call.workspace_id,
    workflowId: call.workflow_id,
    runId: call.run_id,
    stepKey: call.step_key,
    attempt: claim.errors + 1,
    idempotencyKey: `${call.run_id}:${call.step_key}:${claim.generation}`,
    budgeted: claim.budgeted,
    customTool: claim.customTool,
    params: call.params,
    state: call.state,
    place: attempt.place,
    signal: AbortSignal.any([attempt.signal, timeout.signal]),
  };
  try {
    const result =
      node.kind === 'agent'
        ? await tracedAgent({ nodeId: node.id, label: nodeLabel(node) }, () =>
            deps.runners.agent({ ...common, node, mayFallBack }),
          )
        : await tracedTool(node.tool_name, () => deps.runners.tool({ ...common, node }));
    if (JSON.stringify(result.output).length > MAX_OUTPUT_BYTES) {
      throw new NodeError(`The output is larger than ${MAX_OUTPUT_BYTES} characters`, {
        retryable: false,
        consumption: result,
      });
    }
    return result;
  } catch (error) {
    if (!timeout.signal.aborted || attempt.signal.aborted) throw error;
    throw new NodeError(`Timed out after ${timeout.seconds} s`, {
      cause: error,
      consumption: spendingOf(error),
    });
  } finally {
    timeout.clear();
  }
}

function timeoutOf(node: ExecutedNode) {
  const seconds = node.timeout_seconds ?? defaultTimeoutSeconds(node);
  const controller = new AbortController();
  const timer = setTimeout(() => controller.abort(), seconds * 1000);
  return { seconds, signal: controller.signal, clear: () => clearTimeout(timer) };
}
