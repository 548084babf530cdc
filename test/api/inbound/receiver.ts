import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, expect } from '@jest/globals';
import type { InjectOptions } from 'fastify';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import type { InboundEvent, ListedInboundEvent } from '#shared/contract/inbound/inbound-event.ts';
import { type Engine, echo, eventually, startEngine } from '#test/support/engine.ts';

export interface Answered {
  status: number;
  // Tests read responses of every shape.
  body: any;
  headers: Record<string, unknown>;
}

export interface Receiver {
  engine: Engine;
  app: App;
  call(
    method: string,
    url: string,
    payload?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answered>;
  /** A workflow with an enabled webhook; returns its id and the path of the webhook. */
  define(
    settings?: object,
    workflow?: object,
  ): Promise<{ workflowId: string; path: string; secret: string }>;
  /** Sends an event. */
  send(path: string, body: string | Buffer, headers?: Record<string, string>): Promise<Answered>;
  /** The entries of the log once there are so many, the newest first. */
  logged(workflowId: string, n: number, query?: string): Promise<ListedInboundEvent[]>;
  read(id: string): Promise<InboundEvent>;
}

/** The application with a worker, for a test file. */
export function useReceiver(): Receiver {
  const held = {} as { engine: Engine; app: App };
  beforeAll(async () => {
    held.engine = await startEngine();
    held.app = buildApp(held.engine.deps);
  }, 60_000);
  afterAll(async () => {
    await held.app.close();
    await held.engine.close();
  });
  const inject = async (options: InjectOptions): Promise<Answered> => {
    const { statusCode: status, body, headers } = await held.app.inject(options);
    const isJson = String(headers['content-type']).startsWith('application/json');
    return { status, headers, body: isJson && body !== '' ? JSON.parse(body) : body };
  };
  const call: Receiver['call'] = (method, url, payload, headers = {}) =>
    inject({
      ...{ method: method as 'GET', url, headers },
      ...(payload === undefined ? {} : { payload: payload as object }),
    });
  const log = (workflowId: string, query: string): Promise<Answered> =>
    call('GET', `/api/workflows/${workflowId}/inbound-events?limit=200${query}`);
  return {
    get engine() {
      return held.engine;
    },
    get app() {
      return held.app;
    },
    call,
    define: async (settings = {}, workflow = {}) => {
      const graph = { nodes: [echo('answer', 'n')], edges: [] };
      const made = await call('POST', '/api/workflows', { name: 'Received', graph, ...workflow });
      const workflowId = made.body.id as string;
      await call('PUT', `/api/workflows/${workflowId}/webhook/config`, settings);
      const { url } = (await call('POST', `/api/workflows/${workflowId}/webhook`)).body;
      const path = new URL(url).pathname;
      return { workflowId, path, secret: path.slice(-32) };
    },
    send: (url, payload, headers = {}) =>
      inject({
        method: 'POST',
        url,
        payload,
        headers: { 'content-type': 'text/json', ...headers },
      }),
    logged: async (workflowId, n, query = '') => {
      await eventually(async () => (await log(workflowId, query)).body.events.length >= n);
      const { events } = (await log(workflowId, query)).body;
      expect(events).toHaveLength(n);
      return events;
    },
    read: async (id) => {
      const { status, body } = await call('GET', `/api/inbound-events/${id}`);
      expect(status).toBe(200);
      return body;
    },
  };
}

/** The headers of a signed event. */
export function signed(
  secret: string,
  body: string | Buffer,
  at = Math.floor(Date.now() / 1_000),
): Record<string, string> {
  const hmac = createHmac('sha256', secret).update(`${at}.`).update(body).digest('hex');
  return { 'x-service-timestamp': String(at), 'x-service-signature': `sha256=${hmac}` };
}
