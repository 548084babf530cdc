import type { Json, JsonObject } from '#shared/json.ts';

/** A call that a model requested in a turn, as the ledger stores it. */
export interface RequestedCall {
  /** From 1, in the order of the model's response. */
  index: number;
  /** The provider's id of the call; its result refers to it. */
  id: string;
  /** The tool's name in graphs. A name that was not offered is stored as the model wrote it. */
  tool: string;
  /** The model's arguments; a string when they are not a JSON object. */
  given: JsonObject | string;
  /** Why the call is not made. The model reads it as the call's result. */
  refusal?: string;
}

/** The response of a model in one turn. */
export interface ModelTurn {
  /** Empty when the model only calls tools. */
  text: string;
  calls: readonly RequestedCall[];
  /** Set only for turns with calls, and only by providers that require it back. */
  verbatim?: VerbatimTurn;
}

/**
 * The parts of a turn in the provider's order, with the provider's signatures of thoughts and calls. The provider
 * requires them back unchanged. No other model understands them.
 */
export interface VerbatimTurn {
  model: string;
  parts: readonly VerbatimPart[];
}

export type VerbatimPart =
  | { type: 'text' | 'thought'; text: string; metadata?: JsonObject }
  /** `index` is the call's. */
  | { type: 'call'; index: number; metadata?: JsonObject };

/** The result of a call, as the model reads it. */
export interface CallResult {
  index: number;
  id: string;
  tool: string;
  /** The output, or, with `isError`, the reason why there is none. */
  content: Json;
  isError: boolean;
}

/** A conversation before its next turn. Each turn's results are complete, in the order of its calls. */
export interface Conversation {
  /** Empty when the node has none. */
  system: string;
  prompt: string;
  turns: readonly (ModelTurn & { results: readonly CallResult[] })[];
}

/** The start of a conversation. */
export type Opening = Pick<Conversation, 'system' | 'prompt'>;

/** The system prompt and the prompt of an agent's call. Without a prompt, the run state as JSON is the prompt. */
export const openingOf = (call: { params: JsonObject; state: JsonObject }): Opening => ({
  system: textOf(call.params['system_prompt']),
  prompt: textOf(call.params['prompt'] === undefined ? call.state : call.params['prompt']),
});

/** A parameter that is a single reference keeps its type, but a model reads text. */
const textOf = (value: Json | undefined): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
