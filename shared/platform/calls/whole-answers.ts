import { AsyncLocalStorage } from 'node:async_hooks';
import { APICallError, simulateStreamingMiddleware, type wrapLanguageModel } from 'ai';
import type { Egress } from '#shared/platform/egress/egress.ts';
import { isJson } from './outside.ts';

type Middleware = Exclude<Parameters<typeof wrapLanguageModel>[0]['middleware'], unknown[]>;
type StreamCall = Parameters<NonNullable<Middleware['wrapStream']>>[0];
type Streamed = Awaited<ReturnType<NonNullable<Middleware['wrapStream']>>>;

/** A server that ignores `stream` has answered the request. */
class WholeAnswer extends Error {
  override readonly name = 'WholeAnswer';
  readonly response: Response;

  constructor(response: Response) {
    super('The server has answered without a stream');
    this.response = response;
  }
}

/** The answer that has arrived, instead of another request. */
const arrived = new AsyncLocalStorage<Response>();

/** `fetch` for `askStream`: it recognizes a request for a stream that is answered by one JSON text. */
export const wholeAnswers =
  (fetch: Egress['fetch']): Egress['fetch'] =>
  async (input, init) => {
    const answer = arrived.getStore();
    if (answer !== undefined) return answer;
    const response = await fetch(input, init);
    if (!response.ok || !isJson(response.headers.get('content-type') ?? '')) return response;
    if (typeof init?.body !== 'string' || !/"stream":true[,}]/.test(init.body)) return response;
    const text = await response.text();
    const again = new Response(text, response);
    if (text.trimStart().startsWith('{')) throw new WholeAnswer(again);
    return again;
  };

/**
 * Requests a stream. From a server that has none, or that refuses one for this model, it gets the answer as a whole: the
 * answer to the same request, or to a second one if the first was refused.
 */
export async function askStream({ doStream, ...call }: StreamCall): Promise<Streamed> {
  try {
    return await doStream();
  } catch (error) {
    const whole = wholeInstead(error, call.doGenerate);
    if (whole === undefined) throw error;
    const { wrapStream } = simulateStreamingMiddleware();
    return wrapStream!({ ...call, doStream, doGenerate: whole });
  }
}

function wholeInstead(
  error: unknown,
  ask: StreamCall['doGenerate'],
): StreamCall['doGenerate'] | undefined {
  if (error instanceof WholeAnswer) return () => arrived.run(error.response, ask);
  // Such as: "Your organization must be verified to stream this model."
  const refused =
    APICallError.isInstance(error) && error.statusCode === 400 && /\bstream/i.test(error.message);
  return refused ? ask : undefined;
}
