import type { ModelTurn, VerbatimPart, VerbatimTurn } from '#shared/agents/conversation.ts';
import type { OfferedTool } from '#shared/agents/offered-tool.ts';
import { requestedCalls } from '#shared/agents/requested-calls.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { SecretCutter } from '#shared/platform/secrets/secret-cutter.ts';
import type { ModelReply, ReplyPart } from './model-request.ts';

/** A model's reply with calls, without the providers' keys. */
export function turnOf(
  model: string,
  { text, parts }: Pick<ModelReply, 'text' | 'parts'>,
  tools: readonly OfferedTool[],
  keys: SecretCutter,
): ModelTurn {
  const requested = parts.flatMap((part) => (part.type === 'tool-call' ? [part] : []));
  const calls = requestedCalls(
    // Before the texts are shortened, which could leave part of a key.
    requested.map(({ toolCallId, toolName, input }) => ({
      id: keys.json(toolCallId) as string,
      name: keys.json(toolName) as string,
      input: keys.json(input as Json),
    })),
    (name) => tools.find(({ providerName }) => providerName === name)?.name,
    tools.map(({ providerName }) => providerName),
  );
  const verbatim = verbatimOf(model, parts, calls.length, keys);
  return {
    text: keys.json(text) as string,
    calls,
    ...(verbatim === undefined ? {} : { verbatim }),
  };
}

/** Undefined when the provider signed nothing, and when a key was redacted, because that invalidates its signature. */
function verbatimOf(
  model: string,
  parts: readonly ReplyPart[],
  kept: number,
  keys: SecretCutter,
): VerbatimTurn | undefined {
  let index = 0;
  const whole = parts.flatMap((part): VerbatimPart[] => {
    const metadata =
      'providerMetadata' in part && part.providerMetadata !== undefined
        ? { metadata: part.providerMetadata as JsonObject }
        : {};
    switch (part.type) {
      case 'text':
        return [{ type: 'text', text: part.text, ...metadata }];
      case 'reasoning':
        return [{ type: 'thought', text: part.text, ...metadata }];
      case 'tool-call':
        index += 1;
        return index > kept ? [] : [{ type: 'call', index, ...metadata }];
      default:
        return [];
    }
  });
  const signed = whole.some((part) => part.type === 'thought' || part.metadata !== undefined);
  if (!signed) return undefined;
  const written = JSON.stringify(whole);
  return JSON.stringify(keys.json(whole as unknown as Json)) === written
    ? { model, parts: whole }
    : undefined;
}
