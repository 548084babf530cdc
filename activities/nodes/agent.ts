import {
  APICallError,
  generateText,
  jsonSchema,
  type LanguageModelUsage,
  NoObjectGeneratedError,
  NoOutputGeneratedError,
  Output,
} from 'ai';
import type { AgentNode } from '../../shared/contract/graph.ts';
import type { Json, JsonObject } from '../../shared/json.ts';
import { findEgressError } from '../../shared/platform/egress/egress.ts';
import type { ModelLookup } from '../../shared/platform/calls/models.ts';
import type { SecretCutter } from '../../shared/platform/secrets/secret-cutter.ts';
import { costOf, type PriceOverrides, priceOf } from '../../shared/prices.ts';
import { messageOf } from '../../shared/errors.ts';
import { answerUntrusted } from '../../shared/platform/threads/untrusted.ts';
import { isRetryableStatus } from '../../shared/platform/calls/outside.ts';
import { tracedModel } from '../spans.ts';
import { askMock } from './mock-model.ts';
import {
  type Consumption,
  type NodeCall,
  NodeError,
  type NodeResult,
  type NodeRunner,
} from './node.ts';

// The SDK would write warnings (a setting a model ignores) to the console, past the logger.
globalThis.AI_SDK_LOG_WARNINGS = false;

export interface AgentDeps {
  findModel: (name: string) => ModelLookup;
  /** The API keys of the model providers. */
  keys: SecretCutter;
  /** The workspace's prices. Default: only the price table. */
  priceOverrides?: (workspaceId: string) => Promise<PriceOverrides>;
}

/** One model's failure, and whether another model may succeed with the same request. */
interface ModelFailure {
  model: string;
  error: NodeError;
  tryNext: boolean;
}

/**
 * Calls the node's model, then its fallbacks in order while providers fail, without the models that the policies block.
 * The output is the response text, or with `response_schema` the parsed value. Throws NodeError, which carries the cost
 * of an unusable response, and the signal's reason on abort.
 */
export function createAgentRunner(deps: AgentDeps): NodeRunner<AgentNode> {
  return async (call) => {
    const prompt = promptOf(call);
    const models = [call.node.model, ...(call.node.fallback_models ?? [])];
    // Outside the loop: a database outage is no model failure.
    const overrides = models.some((model) => model !== 'mock')
      ? await deps.priceOverrides?.(call.workspaceId)
      : undefined;
    const { max_output_tokens: maxOutputTokens, temperature } = call.node;
    const ask = (model: string): Promise<NodeResult> =>
      tracedModel({ model, maxOutputTokens, temperature }, () =>
        model === 'mock'
          ? askMock(call, prompt)
          : askProvider(deps, call, model, prompt, overrides),
      );
    const failures: ModelFailure[] = [];
    for (const [place, model] of models.entries()) {
      if (place > 0 && (await call.mayFallBack?.(model)) === false) continue;
      if (call.budgeted && priceOf(model, overrides) === undefined) {
        failures.push(unpriced(model));
        continue;
      }
      try {
        return await ask(model);
      } catch (error) {
        if (call.signal.aborted) throw call.signal.reason;
        const failure = judge(model, error, deps.keys);
        failures.push(failure);
        if (!failure.tryNext) break;
      }
    }
    throw combined(failures);
  };
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

async function askProvider(
  deps: AgentDeps,
  call: NodeCall<AgentNode>,
  name: string,
  prompt: string,
  overrides: PriceOverrides | undefined,
): Promise<NodeResult> {
  const found = deps.findModel(name);
  if ('problem' in found) throw new NodeError(found.problem, { retryable: false });
  const schema = call.node.response_schema;
  const system = textOf(call.params['system_prompt']);
  try {
    const result = await generateText({
      model: found.model,
      prompt,
      ...(system === '' ? {} : { instructions: system }),
      temperature: call.node.temperature,
      maxOutputTokens: call.node.max_output_tokens,
      // The node's own retry policy counts and spaces the attempts.
      maxRetries: 0,
      abortSignal: call.signal,
      // Strict mode refuses schemas with optional properties; this function checks the response instead.
      providerOptions: { openai: { strictJsonSchema: false } },
      ...(schema === undefined
        ? {}
        : { output: Output.object({ schema: jsonSchema<Json>(schema) }) }),
    });
    const consumption = consumptionOf(name, result.usage, overrides);
    if (schema !== undefined) {
      const answer = structuredAnswer(result);
      if (answer === undefined) throw cutOff(name, consumption);
      const output = await fitting(call, deps.keys.json(answer), schema, name, consumption);
      return { ...consumption, output };
    }
    if (result.finishReason === 'content-filter') {
      throw new NodeError(`${name} withheld its response (content filter)`, { consumption });
    }
    return { ...consumption, output: deps.keys.json(result.text) };
  } catch (error) {
    if (!NoObjectGeneratedError.isInstance(error) || schema === undefined) throw error;
    const consumption = consumptionOf(name, error.usage, overrides);
    if (error.finishReason === 'length') {
      throw cutOff(name, consumption);
    }
    const text = deps.keys.text(error.text ?? '');
    return { ...consumption, output: await parseAnswer(call, text, schema, name, consumption) };
  }
}

/** The SDK throws when there is no output to parse, for example at the output limit. */
function structuredAnswer(result: { readonly output: Json }): Json | undefined {
  try {
    return result.output;
  } catch (error) {
    if (NoOutputGeneratedError.isInstance(error)) return undefined;
    throw error;
  }
}

const cutOff = (model: string, consumption: Consumption): NodeError =>
  new NodeError(`${model} was cut off at its output limit before its JSON was complete`, {
    consumption,
  });

/** The JSON in a model's response. Throws a retryable NodeError when it is not JSON or does not fit. */
async function parseAnswer(
  call: NodeCall<AgentNode>,
  text: string,
  schema: JsonObject,
  model: string,
  consumption: Consumption,
): Promise<Json> {
  // Models without a JSON mode often wrap the JSON in other text.
  const bare = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(text)?.[1] ?? text;
  let answer: Json;
  try {
    answer = JSON.parse(bare) as Json;
  } catch {
    throw new NodeError(`${model} did not respond with valid JSON: ${text.slice(0, 200)}`, {
      consumption,
    });
  }
  return fitting(call, answer, schema, model, consumption);
}

async function fitting(
  { workspaceId }: NodeCall<AgentNode>,
  answer: Json,
  schema: JsonObject,
  model: string,
  consumption: Consumption,
): Promise<Json> {
  const { problem, schemaProblem } = await answerUntrusted(workspaceId, schema, answer);
  if (schemaProblem !== undefined) {
    throw new NodeError(`The response_schema ${schemaProblem}`, { retryable: false, consumption });
  }
  if (problem !== undefined) {
    throw new NodeError(`The response of ${model} does not fit the response_schema: ${problem}`, {
      consumption,
    });
  }
  return answer;
}

/** Without token counts from the provider, the cost is unknown, as for a model without a price. */
function consumptionOf(
  model: string,
  usage: LanguageModelUsage | undefined,
  overrides?: PriceOverrides,
): Consumption {
  const input = tokenCount(usage?.inputTokens);
  const output = tokenCount(usage?.outputTokens);
  const price = priceOf(model, overrides);
  if (input === undefined || output === undefined) return { model, costMicros: 0, unpriced: true };
  const counted = { input_tokens: input, output_tokens: output };
  if (price === undefined) return { model, usage: counted, costMicros: 0, unpriced: true };
  return { model, usage: counted, costMicros: costOf(price, counted) };
}

const tokenCount = (value: number | undefined): number | undefined =>
  value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined;

/** The SDK's error is not kept as the cause: it contains the prompt, and texts that may contain a key. */
function judge(model: string, error: unknown, keys: SecretCutter): ModelFailure {
  if (error instanceof NodeError) {
    // The mock acts as a provider, so its failures lead to the fallbacks; a bad response does not.
    return { model, error, tryNext: model === 'mock' };
  }
  const blocked = findEgressError(error);
  if (blocked !== undefined) {
    const text = `${model}: ${blocked.message}`;
    return { model, error: new NodeError(text, { retryable: blocked.retryable }), tryNext: true };
  }
  if (APICallError.isInstance(error) && error.statusCode !== undefined) {
    const { statusCode: status } = error;
    if (status < 400) {
      return {
        model,
        error: new NodeError(`${model} returned a response that cannot be read`),
        tryNext: true,
      };
    }
    const text = `${model} answered ${status}: ${keys.text(error.message).slice(0, 500)}`;
    const retryable = isRetryableStatus(status);
    // An invalid request would fail with every model. A refused key or model concerns only this provider.
    const badRequest = [400, 413, 422].includes(status);
    return {
      model,
      error: new NodeError(text, { retryable, definite: true }),
      tryNext: !badRequest,
    };
  }
  const text = `${model}: ${keys.text(messageOf(error)).slice(0, 500)}`;
  return { model, error: new NodeError(text), tryNext: true };
}

function combined(failures: readonly ModelFailure[]): NodeError {
  const last = failures.at(-1)?.error ?? new NodeError('No model was called', { retryable: false });
  if (failures.length <= 1) return last;
  return new NodeError(failures.map((failure) => failure.error.message).join('; '), {
    retryable: failures.some((failure) => failure.error.retryable),
    definite: failures.some((failure) => failure.error.definite),
    consumption: last.consumption,
    cause: last,
  });
}

const promptOf = (call: NodeCall<AgentNode>): string =>
  textOf(call.params['prompt'] === undefined ? call.state : call.params['prompt']);

/** A parameter that is a single reference keeps its type; a model reads text. */
const textOf = (value: Json | undefined): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
