import type { Seen } from '#test/fakes/http-server.ts';

export interface SaidCall {
  /** As the provider returns it: the tool's name for providers. */
  name: string;
  /** A text is sent unchanged, also when it is not JSON. */
  arguments: Record<string, unknown> | string;
  /** Default: `call_<place>`, from 1. */
  id?: string;
  /** The signature that Google requires back. */
  signature?: string;
}

/** A model's turn. */
export interface Said {
  text?: string;
  calls?: SaidCall[];
  /** A signed thought before the rest (Anthropic and Google). */
  thought?: { text: string; signature: string };
  /** `cached_tokens` and `cache_write_tokens` (Anthropic) are parts of `prompt_tokens`. Null: the provider reports none. Default: 20 and 10. */
  usage?: {
    prompt_tokens: number;
    completion_tokens: number;
    cached_tokens?: number;
    cache_write_tokens?: number;
  } | null;
  /**
   * Why the response ends; default: it is complete. `refusal` is the model's own, `filter` its provider's, and
   * `malformed` a call that Google cannot read.
   */
  finish?: 'length' | 'filter' | 'refusal' | 'malformed';
  /** The server ignores that a stream was requested. */
  whole?: boolean;
  /** Awaited in the middle of the response. */
  pause?: () => Promise<void>;
  /**
   * The response ends in its middle: `end` closes it properly, `destroy` closes the connection, and `error` is the
   * provider's own report in a stream.
   */
  cut?: 'end' | 'destroy' | 'error';
}

/** A request to a model. */
export interface Question {
  protocol: 'openai' | 'anthropic' | 'google';
  model: string;
  /** The number of the turn in its conversation, from 1. */
  turn: number;
  streamed: boolean;
  body: Record<string, unknown>;
}

/** How a provider writes a turn. */
export interface Protocol {
  name: Question['protocol'];
  /** Undefined for requests of other protocols. */
  read: (request: Seen) => Question | undefined;
  /** The body of a response that is not streamed. */
  whole: (question: Question, said: Said) => unknown;
  /** The events of a streamed response, as they are sent. */
  events: (question: Question, said: Said) => string[];
  failure: (status: number, message: string) => unknown;
  /** The same in a stream that has begun. */
  failureEvent: (message: string) => string;
}

/** Reads requests to a path whose bodies have `model`, `stream` and `messages`. */
export const questionAt =
  (path: string, protocol: Question['protocol']): Protocol['read'] =>
  ({ url, body }) => {
    if (!url.endsWith(path)) return undefined;
    const parsed = JSON.parse(body) as {
      model: string;
      stream?: boolean;
      messages: { role: string }[];
    };
    return {
      protocol,
      model: parsed.model,
      turn: 1 + parsed.messages.filter(({ role }) => role === 'assistant').length,
      streamed: parsed.stream === true,
      body: { ...parsed },
    };
  };

const MOST_PIECES = 2_000;

/** A text in pieces of a few characters; a long one in two thousand pieces. */
export function pieces(text: string): string[] {
  const size = Math.max(7, Math.ceil(text.length / MOST_PIECES));
  return text.match(new RegExp(`[^]{1,${size}}`, 'gu')) ?? [];
}

export const argumentsText = ({ arguments: given }: SaidCall): string =>
  typeof given === 'string' ? given : JSON.stringify(given);

/** A placeholder for a number with these digits, which no value of ours can hold, where arguments are no text. */
export const exactly = (digits: string): string => `#exactly ${digits}#`;

/** The text with these numbers. */
export const withExact = (text: string): string => text.replaceAll(/"#exactly ([^"#]+)#"/g, '$1');

export const usageOf = ({ usage }: Said) =>
  usage === undefined ? { prompt_tokens: 20, completion_tokens: 10 } : usage;

export const callId = ({ id }: SaidCall, place: number): string => id ?? `call_${place + 1}`;
