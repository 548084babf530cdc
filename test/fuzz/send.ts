import { Agent, request as httpRequest } from 'node:http';
import { ANSWER_MS, type Answer } from './checker.ts';
import type { FuzzRequest } from './draft.ts';

export interface Sender {
  /** Sends a request once. After a timeout or a broken connection, the status is 0 and the body has the reason. */
  send(request: Pick<FuzzRequest, 'method' | 'path' | 'headers' | 'bytes'>): Promise<Answer>;
  close(): void;
}

/** The same client, from another address for each request, so that no rate limit applies. */
export function fromManyAddresses(sender: Sender): Sender {
  let sent = 0;
  return {
    ...sender,
    send: (request) => {
      sent += 1;
      const address = `198.18.${(sent >> 8) & 255}.${sent & 255}`;
      return sender.send({
        ...request,
        headers: { ...request.headers, 'x-forwarded-for': address },
      });
    },
  };
}

/** A client that sends everything unchanged. An upgrade counts as a response and is closed. */
export function createSender(baseUrl: string): Sender {
  const { hostname, port } = new URL(baseUrl);
  const agent = new Agent({ keepAlive: true, maxSockets: 16 });
  const send: Sender['send'] = (request) => {
    const { method, path, headers, bytes } = request;
    return new Promise((resolve) => {
      const began = performance.now();
      const sent = httpRequest({
        agent,
        hostname,
        port,
        method,
        path,
        headers: {
          ...headers,
          ...(bytes === undefined ? {} : { 'content-length': String(bytes.length) }),
        },
      });
      const done = (status: number, answered: Answer['headers'], body: Buffer): void =>
        resolve({ status, headers: answered, body, ms: performance.now() - began });
      const fail = (error: NodeJS.ErrnoException): void =>
        done(0, {}, Buffer.from(error.code ?? error.message));
      sent.on('response', (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('error', fail);
        response.on('end', () =>
          done(response.statusCode ?? 0, response.headers, Buffer.concat(chunks)),
        );
      });
      sent.on('upgrade', (response, socket) => {
        socket.destroy();
        done(response.statusCode ?? 0, response.headers, Buffer.alloc(0));
      });
      // Not the socket's own timeout, which continues from one request to the next.
      const late = setTimeout(() => sent.destroy(new Error('it took too long')), ANSWER_MS + 5_000);
      sent.on('close', () => clearTimeout(late));
      sent.on('error', (error: NodeJS.ErrnoException) => {
        // The server closed an idle connection just when it was reused, as servers may.
        const isStale = error.code === 'ECONNRESET' || error.code === 'EPIPE';
        if (sent.reusedSocket && isStale) void send(request).then(resolve);
        else fail(error);
      });
      sent.end(bytes);
    });
  };
  return { send, close: () => agent.destroy() };
}
