import {
  argumentsText,
  callId,
  pieces,
  type Protocol,
  questionAt,
  type Said,
  usageOf,
} from './model-server-said.ts';

/** `POST /chat/completions`. */
export const openaiProtocol: Protocol = {
  name: 'openai',
  read: questionAt('/chat/completions', 'openai'),
  whole: ({ model }, said) => ({
    ...head(model, 'chat.completion'),
    choices: [
      {
        index: 0,
        message: {
          role: 'assistant',
          ...(said.finish === 'refusal'
            ? { content: null, refusal: said.text }
            : { content: said.text ?? null }),
          ...(said.calls === undefined ? {} : { tool_calls: toolCalls(said) }),
        },
        finish_reason: finishReason(said),
      },
    ],
    ...usage(said),
  }),
  events: ({ model, body }, said) => {
    const { include_usage } = (body['stream_options'] ?? {}) as { include_usage?: boolean };
    const chunk = (delta: unknown, finish_reason: string | null = null) => ({
      ...head(model, 'chat.completion.chunk'),
      choices: [{ index: 0, delta, finish_reason }],
    });
    const field = said.finish === 'refusal' ? 'refusal' : 'content';
    const chunks = [
      chunk({ role: 'assistant', content: '' }),
      ...pieces(said.text ?? '').map((piece) => chunk({ [field]: piece })),
      ...toolCalls(said).flatMap(({ function: called, ...call }, index) => [
        chunk({ tool_calls: [{ index, ...call, function: { name: called.name, arguments: '' } }] }),
        ...pieces(called.arguments).map((piece) =>
          chunk({ tool_calls: [{ index, function: { arguments: piece } }] }),
        ),
      ]),
      chunk({}, finishReason(said)),
      ...(include_usage === true
        ? [{ ...head(model, 'chat.completion.chunk'), choices: [], ...usage(said) }]
        : []),
    ];
    return [...chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`), 'data: [DONE]\n\n'];
  },
  failure: (_status, message) => failure(message),
  failureEvent: (message) => `data: ${JSON.stringify(failure(message))}\n\n`,
};

const failure = (message: string) => ({
  error: { message, type: 'error', code: null, param: null },
});

const head = (model: string, object: string) => ({
  id: 'chatcmpl-1',
  object,
  created: 1_700_000_000,
  model,
});

const toolCalls = ({ calls = [] }: Said) =>
  calls.map((call, place) => ({
    id: callId(call, place),
    type: 'function',
    function: { name: call.name, arguments: argumentsText(call) },
  }));

function finishReason({ finish, calls = [] }: Said): string {
  if (finish === 'length') return 'length';
  if (finish === 'filter') return 'content_filter';
  return calls.length > 0 ? 'tool_calls' : 'stop';
}

function usage(said: Said) {
  const counted = usageOf(said);
  if (counted === null) return {};
  const { prompt_tokens, completion_tokens, cached_tokens } = counted;
  return {
    usage: {
      prompt_tokens,
      completion_tokens,
      total_tokens: prompt_tokens + completion_tokens,
      ...(cached_tokens === undefined ? {} : { prompt_tokens_details: { cached_tokens } }),
    },
  };
}
