import type { ServerResponse } from 'node:http';
import { type FakeServer, type Seen, sendJson, startHttpServer } from './http-server.ts';

/** What a method is answered with: its result, or the whole text of the answer. */
export type OddAnswer = object | null | ((id: unknown) => string);

interface OddAnswers {
  /** By default what a server of the protocol says. */
  initialize?: OddAnswer;
  list?: OddAnswer;
  call?: OddAnswer;
  /** By method, how many of its next requests find no session; can be changed at any time. */
  lost?: Record<string, number>;
  /** Sends answers as a stream of events. */
  stream?: boolean;
  session?: boolean;
}

export interface OddMcpServer extends FakeServer {
  /** The methods of its requests, oldest first. */
  methods(): string[];
}

/** The `error` member of an answer, in any form. */
export const oddError = (error: unknown) => (id: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id, error });

/** A result that is this JSON text, so that it can be nested deeper than any value can be written. */
export const oddResult = (text: string) => (id: unknown) =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${text}}`;

const HELLO = {
  protocolVersion: '2025-11-25',
  capabilities: { tools: {} },
  serverInfo: { name: 'odd', version: '1.0.0' },
};

/** An MCP server of an earlier protocol, with a session, that answers in its own way. */
export async function startOddMcpServer(answers: OddAnswers): Promise<OddMcpServer> {
  const methods: string[] = [];
  const { lost = {} } = answers;
  const given: Record<string, OddAnswer | undefined> = {
    initialize: answers.initialize === undefined ? HELLO : answers.initialize,
    'tools/list': answers.list,
    'tools/call': answers.call,
  };
  const answer = ({ body }: Seen, response: ServerResponse): void => {
    const { id, method } = (body === '' ? {} : JSON.parse(body)) as {
      id?: number;
      method?: string;
    };
    if (method === undefined) return void response.writeHead(405).end();
    methods.push(method);
    if (id === undefined) return void response.writeHead(202).end();
    const left = lost[method] ?? 0;
    if (left > 0) {
      lost[method] = left - 1;
      return void response.writeHead(404).end('no session');
    }
    const odd = given[method];
    if (odd === undefined) {
      const error = { code: -32601, message: 'no such method' };
      return sendJson(response, 200, { jsonrpc: '2.0', id, error });
    }
    const text =
      typeof odd === 'function' ? odd(id) : JSON.stringify({ jsonrpc: '2.0', id, result: odd });
    const type = answers.stream === true ? 'text/event-stream' : 'application/json';
    const session = answers.session === false ? {} : { 'mcp-session-id': `s${methods.length}` };
    response.writeHead(200, { 'content-type': type, ...session });
    response.end(answers.stream === true ? `data: ${text}\n\n` : text);
  };
  return { ...(await startHttpServer(answer)), methods: () => methods };
}
