import { outputLimit } from '#shared/agents/cost-bounds.ts';
import type { AgentNode } from '#shared/contract/workflows/graph.ts';
import type { ModelLookup } from '#shared/platform/calls/models.ts';
import type { SecretCutter } from '#shared/platform/secrets/secret-cutter.ts';
import { priceOf } from '#shared/money/prices.ts';
import { tracedModel } from '#activities/spans.ts';
import { judgeFailure, type ModelFailure } from './model-failure.ts';
import { type Consumption, type NodeCall, NodeError } from './node.ts';

export interface AgentDeps {
  findModel: (name: string) => ModelLookup;
  /** The API keys of the model providers. */
  keys: SecretCutter;
}

/**
 * Calls the node's model, then its fallbacks in order while providers fail, except for models that the policies block.
 * Throws NodeError, which carries the cost of an unusable response, and the signal's reason on abort.
 */
export async function askInOrder<Answer extends Consumption>(
  deps: AgentDeps,
  call: NodeCall<AgentNode>,
  ask: (model: string) => Promise<Answer>,
): Promise<Answer> {
  const models = [call.node.model, ...(call.node.fallback_models ?? [])];
  const { temperature } = call.node;
  const failures: ModelFailure[] = [];
  for (const [place, model] of models.entries()) {
    if (place > 0 && (await call.mayFallBack?.(model)) === false) continue;
    if (call.budgeted && priceOf(model, call.prices) === undefined) {
      failures.push(unpriced(model));
      continue;
    }
    try {
      return await tracedModel(
        { model, maxOutputTokens: outputLimit(call.node), temperature },
        () => ask(model),
      );
    } catch (error) {
      if (call.signal.aborted) throw call.signal.reason;
      const failure = judgeFailure(model, error, deps.keys);
      failures.push(failure);
      if (!failure.tryNext) break;
    }
  }
  throw combined(failures);
}

/** An unknown cost is not zero. */
const unpriced = (model: string): ModelFailure => ({
  model,
  error: new NodeError(
    `${model} has no price, and a cost cap or a budget applies; give it one in the workspace's prices`,
    { retryable: false },
  ),
  tryNext: true,
});

function combined(failures: readonly ModelFailure[]): NodeError {
  const last = failures.at(-1)?.error ?? new NodeError('No model was called', { retryable: false });
  if (failures.length <= 1) return last;
  return new NodeError(failures.map((failure) => failure.error.message).join('; '), {
    retryable: failures.some((failure) => failure.error.retryable),
    definite: failures.some((failure) => failure.error.definite),
    consumption: last.consumption,
    // Any of them may succeed, so the first retryable failure counts.
    retryAfterMs: leastWait(failures),
    cause: last,
  });
}

function leastWait(failures: readonly ModelFailure[]): number {
  const waits = failures.flatMap(({ error }) => (error.retryable ? error.retryAfterMs : []));
  return waits.length === 0 ? 0 : Math.min(...waits);
}
