import type { Conversation } from '../../shared/agents/conversation.ts';
import type { Json, JsonObject } from '../../shared/json.ts';

/** What a conversation begins with. */
export type Opening = Pick<Conversation, 'system' | 'prompt'>;

/** The system prompt and the prompt of an agent's call. Without a prompt, it is the run state as JSON. */
export const openingOf = (call: { params: JsonObject; state: JsonObject }): Opening => ({
  system: textOf(call.params['system_prompt']),
  prompt: textOf(call.params['prompt'] === undefined ? call.state : call.params['prompt']),
});

/** A parameter that is a single reference keeps its type; a model reads text. */
const textOf = (value: Json | undefined): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
