import {
  experimental_streamLanguageModelCall as streamModel,
  generateText,
  jsonSchema,
  type LanguageModel,
  type LanguageModelCallEndEvent,
  type LanguageModelUsage,
  type ModelMessage,
  Output,
  type ToolSet,
  ToolChoiceViolationError,
} from 'ai';
import type { OfferedTool } from '#shared/agents/offered-tool.ts';
import { presentedAnswer, presentedSchema } from '#shared/agents/presented-schema.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { withPrefix } from './turn-cache.ts';

// The SDK would write warnings (a setting a model ignores) to the console, past the logger.
globalThis.AI_SDK_LOG_WARNINGS = false;

/** A single request to a provider: the node's own retry policy counts and spaces the attempts. */
export interface ModelRequest {
  model: LanguageModel;
  /** Empty if there is none. */
  system: string;
  messages: ModelMessage[];
  temperature: number | undefined;
  maxOutputTokens: number | undefined;
  /** JSON Schema of the answer, for providers that support one. The response is not validated here. */
  schema: JsonObject | undefined;
  signal: AbortSignal;
  tools?: readonly OfferedTool[];
  toolChoice?: 'auto' | 'required' | 'none';
  /** Requests a stream. Called with its text, unchanged, as it arrives. */
  onText?: ((delta: string) => void) | undefined;
}

export type ReplyPart = LanguageModelCallEndEvent['content'][number];

/** A provider's complete response. */
export interface ModelReply {
  text: string;
  parts: readonly ReplyPart[];
  finishReason: LanguageModelCallEndEvent['finishReason'];
  usage: LanguageModelUsage;
  /** The model called a tool although the choice was `none`, or called none although it was `required`. */
  ignoredToolChoice: boolean;
}

/** Calls a model. A stream and a single response give the same reply. Throws the SDK's errors. */
export async function askModel(request: ModelRequest): Promise<ModelReply> {
  const ends: LanguageModelCallEndEvent[] = [];
  let ignoredToolChoice = false;
  try {
    await transfer(request, (end) => void ends.push(end));
  } catch (error) {
    // The response has already arrived, so its cost counts.
    if (!ToolChoiceViolationError.isInstance(error)) throw error;
    ignoredToolChoice = true;
  }
  const end = ends[0];
  // Without the provider's last event, its text and calls may be incomplete.
  if (end === undefined || end.finishReason === 'interrupted') {
    throw new Error('its response ended early');
  }
  if (end.finishReason === 'other' && end.content.length === 0) {
    throw new Error('its response cannot be read');
  }
  return {
    text: end.content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    parts: end.content,
    finishReason: end.finishReason,
    usage: end.usage,
    ignoredToolChoice,
  };
}

async function transfer(
  request: ModelRequest,
  onLanguageModelCallEnd: (end: LanguageModelCallEndEvent) => void,
): Promise<void> {
  const { onText } = request;
  const options = { ...optionsOf(request), onLanguageModelCallEnd };
  if (onText === undefined) {
    await generateText({ ...options, maxRetries: 0 });
    return;
  }
  // Not `streamText`, which passes each part of the stream through ten more transforms for its own loop of turns.
  const { stream } = await streamModel(options);
  for await (const part of stream) {
    if (part.type === 'text-delta') onText(part.text);
    else if (part.type === 'error') throw part.error;
  }
}

function optionsOf({ system, schema, tools = [], toolChoice, ...request }: ModelRequest) {
  return {
    model: request.model,
    messages: request.messages,
    ...(system === '' ? {} : { instructions: system }),
    temperature: request.temperature,
    maxOutputTokens: request.maxOutputTokens,
    abortSignal: request.signal,
    providerOptions: {
      // Strict mode rejects schemas with optional properties, so the response is validated here instead.
      openai: { strictJsonSchema: false },
      // A field that only streamed requests have, and that gateways may not know.
      anthropic: { toolStreaming: false },
    },
    ...(tools.length === 0 ? {} : { tools: toolSet(tools), toolChoice: toolChoice ?? 'auto' }),
    ...(schema === undefined ? {} : { output: textFor(schema) }),
  };
}

/** Without `execute`, so that the SDK returns the calls instead of making them. */
const toolSet = (tools: readonly OfferedTool[]): ToolSet =>
  withPrefix(
    Object.fromEntries(
      tools.map(({ providerName, description, schema }) => [
        providerName,
        { description, inputSchema: jsonSchema<Json>(presentedSchema(schema)) },
      ]),
    ),
  );

/** Sends the schema but does not parse the text: models wrap JSON in other text, which the SDK would reject. */
const textFor = (schema: JsonObject) => ({
  ...Output.object({
    schema: jsonSchema<Json>(presentedAnswer(schema)),
  }),
  parseCompleteOutput: ({ text }: { text: string }) => Promise.resolve<Json>(text),
});
