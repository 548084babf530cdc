import type { Seen } from '#test/fakes/http-server.ts';
import { pieces, type Protocol, type Question, type Said, usageOf } from './model-server-said.ts';

/** `POST /models/<model>:generateContent` and `:streamGenerateContent`. */
export const googleProtocol: Protocol = {
  name: 'google',
  read: ({ url, body }: Seen): Question | undefined => {
    const [, model, method] = /\/models\/([^/:]+):(\w+)/.exec(url) ?? [];
    if (model === undefined) return undefined;
    const parsed = JSON.parse(body) as { contents: { role: string }[] };
    return {
      protocol: 'google',
      model,
      turn: 1 + parsed.contents.filter(({ role }) => role === 'model').length,
      streamed: method === 'streamGenerateContent',
      body: { ...parsed },
    };
  },
  whole: (_question, said) => ({
    ...candidate([...thoughts(said), ...texts([said.text ?? '']), ...calls(said)], said),
    ...usage(said),
  }),
  events: (_question, said) => {
    const chunks = [
      ...[...thoughts(said), ...texts(pieces(said.text ?? '')), ...calls(said)].map((part) =>
        candidate([part]),
      ),
      { ...candidate([], said), ...usage(said) },
    ];
    return chunks.map((each) => `data: ${JSON.stringify(each)}\n\n`);
  },
  failure: (status, message) => failure(status, message),
  failureEvent: (message) => `data: ${JSON.stringify(failure(503, message))}\n\n`,
};

const failure = (code: number, message: string) => ({
  error: { code, message, status: 'UNAVAILABLE' },
});

const candidate = (parts: unknown[], said?: Said) => ({
  candidates: [
    {
      index: 0,
      content: { role: 'model', parts },
      ...(said === undefined ? {} : { finishReason: finishReason(said) }),
    },
  ],
});

const thoughts = ({ thought }: Said) =>
  thought === undefined
    ? []
    : [{ text: thought.text, thought: true, thoughtSignature: thought.signature }];

const texts = (each: string[]) => each.filter((text) => text !== '').map((text) => ({ text }));

const calls = ({ calls: called = [] }: Said) =>
  called.map(({ name, arguments: args, id, signature }) => ({
    functionCall: { ...(id === undefined ? {} : { id }), name, args },
    ...(signature === undefined ? {} : { thoughtSignature: signature }),
  }));

function finishReason({ finish }: Said): string {
  switch (finish) {
    case undefined:
      return 'STOP';
    case 'length':
      return 'MAX_TOKENS';
    case 'malformed':
      return 'MALFORMED_FUNCTION_CALL';
    default:
      return 'SAFETY';
  }
}

function usage(said: Said) {
  const counted = usageOf(said);
  if (counted === null) return {};
  const { prompt_tokens, completion_tokens, cached_tokens } = counted;
  return {
    usageMetadata: {
      promptTokenCount: prompt_tokens,
      candidatesTokenCount: completion_tokens,
      totalTokenCount: prompt_tokens + completion_tokens,
      ...(cached_tokens === undefined ? {} : { cachedContentTokenCount: cached_tokens }),
    },
  };
}
