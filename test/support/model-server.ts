import { setTimeout as sleep } from 'node:timers/promises';
import type { ServerResponse } from 'node:http';
import { type FakeServer, type Seen, sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import { anthropicProtocol } from './model-server-anthropic.ts';
import { googleProtocol } from './model-server-google.ts';
import { openaiProtocol } from './model-server-openai.ts';
import { type Protocol, type Question, type Said, withExact } from './model-server-said.ts';

/** The response to a request. */
export type ModelAnswer = (
  | Said
  | { status: number; message: string; headers?: Record<string, string> }
  | { hang: true }
  | { raw: string }
) & { delayMs?: number };

export interface ModelServer extends FakeServer {
  /** The next responses. The last one repeats; without any, the text is `Hello`. */
  answers: ModelAnswer[];
  asked: () => Question[];
  /** The parsed bodies of the requests, oldest first. */
  questions: () => Record<string, unknown>[];
}

const protocols = [openaiProtocol, anthropicProtocol, googleProtocol];

/**
 * A provider that speaks the protocols of OpenAI, Anthropic and Google, each below the same address. With `answerTo`,
 * the response depends on the request instead of its place in the script, so that repeated requests get the same one.
 */
export async function startModelServer(
  answerTo?: (question: Question) => ModelAnswer,
): Promise<ModelServer> {
  const answers: ModelAnswer[] = [];
  const next = () => (answers.length > 1 ? answers.shift() : answers[0]) ?? { text: 'Hello' };
  const server = await startHttpServer(async (request, response) => {
    const { question, protocol } = questionOf(request) ?? {};
    if (question === undefined || protocol === undefined) return sendJson(response, 404, {});
    const answer = answerTo?.(question) ?? next();
    if (answer.delayMs !== undefined) await sleep(answer.delayMs);
    await send(response, protocol, question, answer);
  });
  const asked = () => server.seen.flatMap((request) => questionOf(request)?.question ?? []);
  return { ...server, answers, asked, questions: () => asked().map(({ body }) => body) };
}

/** With these settings, this is where the models of OpenAI are. */
export const modelSettings = ({ url }: { url: string }): Record<string, string> => ({
  OPENAI_API_KEY: 'sk-test-0123456789abcdef',
  OPENAI_BASE_URL: `${url}/v1`,
});

function questionOf(request: Seen): { question: Question; protocol: Protocol } | undefined {
  for (const protocol of protocols) {
    const question = protocol.read(request);
    if (question !== undefined) return { question, protocol };
  }
  return undefined;
}

async function send(
  response: ServerResponse,
  protocol: Protocol,
  question: Question,
  answer: ModelAnswer,
): Promise<void> {
  if ('hang' in answer) return;
  if ('status' in answer) {
    const { status, message, headers = {} } = answer;
    for (const [name, value] of Object.entries(headers)) response.setHeader(name, value);
    return sendJson(response, status, protocol.failure(status, message));
  }
  const streamed = question.streamed && !('whole' in answer && answer.whole === true);
  const type = streamed ? 'text/event-stream' : 'application/json';
  response.writeHead(200, { 'content-type': type });
  if ('raw' in answer) return void response.end(answer.raw);
  const pieces = streamed
    ? protocol.events(question, answer).map(withExact)
    : halves(withExact(JSON.stringify(protocol.whole(question, answer))));
  const middle = Math.ceil(pieces.length / 2);
  const sent = answer.cut === undefined ? pieces : pieces.slice(0, middle);
  for (const [place, piece] of sent.entries()) {
    if (place === middle) await answer.pause?.();
    response.write(piece);
    // So that the events arrive one by one, as from a model.
    await new Promise(setImmediate);
  }
  if (answer.cut === 'error') response.write(protocol.failureEvent('Overloaded'));
  if (answer.cut === 'destroy') response.destroy();
  else response.end();
}

const halves = (text: string): string[] => {
  const middle = Math.floor(text.length / 2);
  return [text.slice(0, middle), text.slice(middle)];
};
