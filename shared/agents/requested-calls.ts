import { isObject } from '#shared/graph/json-value.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import type { RequestedCall } from './conversation.ts';
import { MAX_CALLS_PER_TURN, MAX_REQUESTED_CALLS } from './loop.ts';

const MAX_NAME = 200;
const MAX_EXCERPT = 200;

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
