import { MAX_CALLS_PER_TURN, MAX_REQUESTED_CALLS } from '#shared/agents/loop.ts';
import type {
  ModelTurn,
  RequestedCall,
  VerbatimPart,
  VerbatimTurn,
} from '#shared/agents/conversation.ts';
import type { OfferedTool } from '#shared/agents/offered-tool.ts';
import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { SecretCutter } from '#shared/platform/secrets/secret-cutter.ts';
import type { ModelReply, ReplyPart } from './model-request.ts';

const MAX_NAME = 200;
const MAX_EXCERPT = 200;

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

/** Calls as the ledger stores them: under the tools' own names, each with its refusal if it cannot be made. */
export function requestedCalls(
  requested: readonly { id: string; name: string; input: Json }[],
  toolNamed: (name: string) => string | undefined,
  names: readonly string[],
): RequestedCall[] {
  const ids = new Set<string>();
  return requested.slice(0, MAX_REQUESTED_CALLS).map(({ id, name, input }, place) => {
    const tool = toolNamed(name);
    const given = isObject(input) ? input : textOf(input);
    const refusal = refusalOf(place + 1, { tool, name, given, names });
    // Some servers number the calls of each response, or send no id.
    const own = id === '' || ids.has(id) ? `${id}-${place + 1}` : id;
    ids.add(own);
    return {
      index: place + 1,
      id: own,
      tool: tool ?? name.slice(0, MAX_NAME),
      given,
      ...(refusal === undefined ? {} : { refusal }),
    };
  });
}

function refusalOf(
  index: number,
  call: {
    tool: string | undefined;
    name: string;
    given: JsonObject | string;
    names: readonly string[];
  },
): string | undefined {
  if (index > MAX_CALLS_PER_TURN) {
    return `Not made: a turn can have at most ${MAX_CALLS_PER_TURN} calls`;
  }
  if (call.tool === undefined) {
    const offered = call.names.length === 0 ? 'none is' : `offered are ${call.names.join(', ')}`;
    return `The tool '${call.name.slice(0, MAX_NAME)}' is not offered; ${offered}`;
  }
  if (typeof call.given !== 'string') return undefined;
  return `The arguments are not a JSON object: ${call.given.slice(0, MAX_EXCERPT)}`;
}

const textOf = (input: Json): string => (typeof input === 'string' ? input : JSON.stringify(input));

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
