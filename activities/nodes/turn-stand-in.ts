import { toMicros } from '../../shared/money.ts';
import type { TurnRunner } from './model-turn.ts';
import type { Json, JsonObject } from '../../shared/json.ts';

// STAND-IN until the turn runner is merged.
export const turnStandIn: TurnRunner = async (call) => {
  const script = (call.params['mock'] ?? {}) as {
    turns?: {
      calls?: { tool: string; arguments: JsonObject }[];
      output?: Json;
      cost_usd?: number;
    }[];
    output?: Json;
  };
  const turn = call.toolChoice === 'none' ? undefined : script.turns?.[call.turn - 1];
  const costMicros = toMicros(turn?.cost_usd ?? 0);
  if (turn?.calls !== undefined) {
    return {
      model: 'mock',
      costMicros,
      said: {
        text: '',
        calls: turn.calls.map((each, at) => ({
          index: at + 1,
          id: `mock-${call.turn}-${at + 1}`,
          tool: each.tool,
          given: each.arguments ?? {},
        })),
      },
    };
  }
  const output =
    turn?.output ??
    script.output ??
    `Answer after ${call.turn}: ${JSON.stringify(call.conversation.turns.at(-1)?.results ?? [])}`;
  return {
    model: 'mock',
    costMicros,
    said: { text: typeof output === 'string' ? output : JSON.stringify(output), calls: [] },
    output,
  };
};
