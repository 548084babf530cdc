import type { ServerResponse } from 'node:http';
import { type FakeServer, sendJson, startHttpServer } from './http-server.ts';

/** The response to the next request. A text gets status 200; the queue's last entry repeats. */
export type ModelAnswer =
  | {
      text: string;
      usage?: { prompt_tokens: number; completion_tokens: number } | null;
      finishReason?: string;
    }
  | { status: number; message: string; headers?: Record<string, string> }
  | { hang: true }
  | { raw: string };

export interface ModelServer extends FakeServer {
  answers: ModelAnswer[];
  /** The parsed bodies of the requests, oldest first. */
  questions: () => Record<string, unknown>[];
}

/** Implements `POST /chat/completions` like OpenAI and `POST /messages` like Anthropic. */
export async function startModelServer(): Promise<ModelServer> {
  const answers: ModelAnswer[] = [];
  const server = await startHttpServer((request, response) => {
    const answer = (answers.length > 1 ? answers.shift() : answers[0]) ?? { text: 'Hello' };
    if ('hang' in answer) return;
    if ('raw' in answer) {
      return void response.writeHead(200, { 'content-type': 'application/json' }).end(answer.raw);
    }
    if ('status' in answer) return sendRefusal(response, answer);
    const model = (JSON.parse(request.body) as { model: string }).model;
    sendJson(
      response,
      200,
      request.url.endsWith('/messages') ? message(model, answer) : completion(model, answer),
    );
  });
  return {
    ...server,
    answers,
    questions: () =>
      server.seen.map((request) => JSON.parse(request.body) as Record<string, unknown>),
  };
}

type TextAnswer = Extract<ModelAnswer, { text: string }>;

const usageOf = (answer: TextAnswer) =>
  answer.usage === undefined ? { prompt_tokens: 20, completion_tokens: 10 } : answer.usage;

function completion(model: string, answer: TextAnswer) {
  const usage = usageOf(answer);
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion',
    created: 1_700_000_000,
    model,
    choices: [
      {
        index: 0,
        message: { role: 'assistant', content: answer.text },
        finish_reason: answer.finishReason ?? 'stop',
      },
    ],
    ...(usage === null
      ? {}
      : { usage: { ...usage, total_tokens: usage.prompt_tokens + usage.completion_tokens } }),
  };
}

function message(model: string, answer: TextAnswer) {
  const usage = usageOf(answer);
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model,
    content: [{ type: 'text', text: answer.text }],
    stop_reason: answer.finishReason ?? 'end_turn',
    stop_sequence: null,
    usage: {
      input_tokens: usage?.prompt_tokens ?? 0,
      output_tokens: usage?.completion_tokens ?? 0,
    },
  };
}

function sendRefusal(
  response: ServerResponse,
  answer: Extract<ModelAnswer, { status: number }>,
): void {
  for (const [name, value] of Object.entries(answer.headers ?? {})) response.setHeader(name, value);
  sendJson(response, answer.status, {
    error: { message: answer.message, type: 'error', code: null, param: null },
  });
}
