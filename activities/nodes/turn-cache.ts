import type { ModelMessage, ToolSet } from 'ai';

/**
 * Prompt caching of Anthropic: a request marks the ends of the prefixes to store and to look up. Other providers cache
 * automatically and ignore the option.
 */
const END = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/**
 * The conversation with the ends of two prefixes: what the previous turn sent, which is already stored, and what this
 * turn sends, which the next one reads. `last`: there is no next turn, so storing it would only cost money.
 */
export function withPrefixes(
  messages: readonly ModelMessage[],
  { last }: { last: boolean },
): ModelMessage[] {
  const asked = messages.flatMap(({ role }, place) => (role === 'assistant' ? [] : [place]));
  const ends = new Set(last ? asked.slice(-2, -1) : asked.slice(-2));
  return messages.map((message, place) =>
    ends.has(place) ? { ...message, providerOptions: END } : message,
  );
}

/** The tools with the end of a prefix, which every agent with the same tools can read. */
export function withPrefix(tools: ToolSet): ToolSet {
  const last = Object.entries(tools).at(-1);
  if (last === undefined) return tools;
  const [name, tool] = last;
  return { ...tools, [name]: { ...tool, providerOptions: END } };
}
