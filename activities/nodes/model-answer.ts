import type { LanguageModelUsage } from 'ai';
import type { Json, JsonObject } from '../../shared/json.ts';
import type { SecretCutter } from '../../shared/platform/secrets/secret-cutter.ts';
import { answerUntrusted } from '../../shared/platform/threads/untrusted.ts';
import { chargesCacheWrites, costOf, type PriceOverrides, priceOf } from '../../shared/prices.ts';
import type { ModelReply } from './model-request.ts';
import { type Consumption, NodeError } from './node.ts';

/** What a reply is read for. */
export interface Asked {
  workspaceId: string;
  model: string;
  keys: SecretCutter;
  schema: JsonObject | undefined;
  /** The cost of the reply. */
  consumption: Consumption;
}

/** The output in a reply without calls: its text, or the JSON that fits the schema. Throws NodeError. */
export async function answerOf(asked: Asked, reply: ModelReply): Promise<Json> {
  if (asked.schema === undefined) return asked.keys.json(reply.text);
  const answer = parsed(reply.text);
  if (answer === undefined) throw unparsable(asked, reply);
  return fitting(asked, asked.schema, asked.keys.json(answer));
}

/** Throws a retryable NodeError for a response that is no answer. */
export function refuseUnfinished(
  { model, consumption }: Asked,
  { finishReason }: ModelReply,
): void {
  if (finishReason === 'content-filter') {
    throw new NodeError(`${model} withheld its response (content filter)`, { consumption });
  }
  if (finishReason === 'error') {
    throw new NodeError(`${model} reported an error instead of a response`, { consumption });
  }
}

/** The JSON in a model's text, or undefined without one. */
function parsed(text: string): Json | undefined {
  // Models without a JSON mode often wrap the JSON in other text.
  const bare = /^\s*```(?:json)?\s*\n([\s\S]*?)\n\s*```\s*$/.exec(text)?.[1] ?? text;
  try {
    return JSON.parse(bare) as Json;
  } catch {
    return undefined;
  }
}

function unparsable({ model, keys, consumption }: Asked, reply: ModelReply): NodeError {
  if (reply.finishReason === 'length') return cutOff(model, 'its JSON was complete', consumption);
  const excerpt = keys.text(reply.text).slice(0, 200);
  return new NodeError(`${model} did not respond with valid JSON: ${excerpt}`, { consumption });
}

export const cutOff = (model: string, before: string, consumption: Consumption): NodeError =>
  new NodeError(`${model} was cut off at its output limit before ${before}`, { consumption });

async function fitting(
  { workspaceId, model, consumption }: Asked,
  schema: JsonObject,
  answer: Json,
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
export function consumptionOf(
  model: string,
  usage: LanguageModelUsage,
  overrides?: PriceOverrides,
): Consumption {
  const input = tokenCount(usage.inputTokens);
  const output = tokenCount(usage.outputTokens);
  const price = priceOf(model, overrides);
  if (input === undefined || output === undefined) return { model, costMicros: 0, unpriced: true };
  const cached = tokenCount(usage.inputTokenDetails.cacheReadTokens) ?? 0;
  const written = chargesCacheWrites(model)
    ? (tokenCount(usage.inputTokenDetails.cacheWriteTokens) ?? 0)
    : 0;
  const counted = {
    input_tokens: input,
    output_tokens: output,
    // A provider that reports more than the whole is not believed.
    ...(cached > 0 && cached <= input ? { cached_tokens: cached } : {}),
    ...(written > 0 && written <= input ? { cache_write_tokens: written } : {}),
  };
  if (price === undefined) return { model, usage: counted, costMicros: 0, unpriced: true };
  return { model, usage: counted, costMicros: costOf(price, counted) };
}

const tokenCount = (value: number | undefined): number | undefined =>
  value !== undefined && Number.isSafeInteger(value) && value >= 0 ? value : undefined;
