import {
  argumentsText,
  callId,
  pieces,
  type Protocol,
  questionAt,
  type Said,
  usageOf,
} from './model-server-said.ts';

/** `POST /messages`. */
export const anthropicProtocol: Protocol = {
  name: 'anthropic',
  read: questionAt('/messages', 'anthropic'),
  whole: ({ model }, said) => ({
    ...head(model),
    content: blocks(said).map(({ begun, rest }) => ({ ...begun, ...rest })),
    stop_reason: stopReason(said),
    usage: usage(said),
  }),
  events: ({ model }, said) => [
    event('message_start', {
      message: { ...head(model), content: [], stop_reason: null, usage: usage(said) },
    }),
    ...blocks(said).flatMap(({ begun, deltas }, index) => [
      event('content_block_start', { index, content_block: begun }),
      ...deltas.map((delta) => event('content_block_delta', { index, delta })),
      event('content_block_stop', { index }),
    ]),
    event('message_delta', {
      delta: { stop_reason: stopReason(said), stop_sequence: null },
      usage: { output_tokens: usage(said).output_tokens },
    }),
    event('message_stop', {}),
  ],
  failureEvent: (message) => event('error', { error: { type: 'overloaded_error', message } }),
  failure: (status, message) => ({
    type: 'error',
    error: { type: status === 529 ? 'overloaded_error' : 'api_error', message },
  }),
};

const event = (type: string, data: object): string =>
  `event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`;

const head = (model: string) => ({
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model,
  stop_sequence: null,
});

/** A block as it begins, what it has when it is complete, and the deltas between. */
interface Block {
  begun: Record<string, unknown>;
  rest: Record<string, unknown>;
  deltas: Record<string, unknown>[];
}

function blocks({ thought, text = '', calls = [] }: Said): Block[] {
  return [
    ...(thought === undefined
      ? []
      : [
          {
            begun: { type: 'thinking', thinking: '', signature: '' },
            rest: { thinking: thought.text, signature: thought.signature },
            deltas: [
              ...pieces(thought.text).map((thinking) => ({ type: 'thinking_delta', thinking })),
              { type: 'signature_delta', signature: thought.signature },
            ],
          },
        ]),
    ...(text === ''
      ? []
      : [
          {
            begun: { type: 'text', text: '' },
            rest: { text },
            deltas: pieces(text).map((piece) => ({ type: 'text_delta', text: piece })),
          },
        ]),
    ...calls.map((call, place) => ({
      begun: { type: 'tool_use', id: callId(call, place), name: call.name, input: {} },
      rest: { input: call.arguments },
      deltas: pieces(argumentsText(call)).map((partial_json) => ({
        type: 'input_json_delta',
        partial_json,
      })),
    })),
  ];
}

function stopReason({ finish, calls = [] }: Said): string {
  if (finish === 'length') return 'max_tokens';
  if (finish !== undefined) return 'refusal';
  return calls.length > 0 ? 'tool_use' : 'end_turn';
}

/** Anthropic counts what it read from its cache, and stored there, apart. */
function usage(said: Said) {
  const counted = usageOf(said) ?? { prompt_tokens: 0, completion_tokens: 0 };
  const { cached_tokens: cached = 0, cache_write_tokens: written = 0 } = counted;
  return {
    input_tokens: counted.prompt_tokens - cached - written,
    output_tokens: counted.completion_tokens,
    ...(cached === 0 ? {} : { cache_read_input_tokens: cached }),
    ...(written === 0 ? {} : { cache_creation_input_tokens: written }),
  };
}
