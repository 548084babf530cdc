import { jsonInAnswer } from '#shared/agents/json-answer.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { JsonLimitError } from '#shared/outside-json.ts';
import type { SecretCutter } from '#shared/platform/secrets/secret-cutter.ts';
import { answerUntrusted } from '#shared/platform/threads/untrusted.ts';
import type { ModelReply } from './model-request.ts';
import { type Consumption, NodeError } from './node.ts';
import { refusedAnswer } from '#shared/graph/failure-texts.ts';

/** What is needed to interpret a reply. */
export interface Asked {
  workspaceId: string;
  model: string;
  keys: SecretCutter;
  schema: JsonObject | undefined;
  /** The cost of the reply. */
  consumption: Consumption;
}

/** The output of a reply without calls: its text, or the JSON that matches the schema. Throws NodeError. */
export async function answerOf(asked: Asked, reply: ModelReply): Promise<Json> {
  if (asked.schema === undefined) return asked.keys.json(reply.text);
  const answer = parsed(asked, reply);
  if (answer === undefined) throw unparsable(asked, reply);
  return requireFitting(asked, asked.schema, asked.keys.json(answer));
}

/** Throws a retryable NodeError for a response that is not an answer. */
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

/** The JSON in a reply, or undefined without one: models without a JSON mode often put it between other text. */
function parsed({ model, consumption }: Asked, reply: ModelReply): Json | undefined {
  try {
    return jsonInAnswer(reply.text, { cutOff: reply.finishReason === 'length' });
  } catch (error) {
    if (!(error instanceof JsonLimitError)) throw error;
    const problem = `The JSON of ${model} is too large: ${error.message}`;
    throw new NodeError(problem, { retryable: false, consumption });
  }
}

function unparsable({ model, keys, consumption }: Asked, reply: ModelReply): NodeError {
  if (reply.finishReason === 'length') return cutOff(model, 'its JSON was complete', consumption);
  const excerpt = keys.text(reply.text).slice(0, 200);
  return new NodeError(`${model} did not respond with valid JSON: ${excerpt}`, { consumption });
}

export const cutOff = (model: string, before: string, consumption: Consumption): NodeError =>
  new NodeError(`${model} was cut off at its output limit before ${before}`, { consumption });

/** The answer, if it matches the node's response schema. Throws NodeError, which carries the cost. */
export async function requireFitting(
  { workspaceId, model, consumption }: Pick<Asked, 'workspaceId' | 'model' | 'consumption'>,
  schema: JsonObject,
  answer: Json,
): Promise<Json> {
  const outcome = await answerUntrusted(workspaceId, schema, answer);
  const refusal = refusedAnswer(model, outcome);
  if (refusal === undefined) return answer;
  throw new NodeError(refusal, { retryable: outcome.schemaProblem === undefined, consumption });
}
