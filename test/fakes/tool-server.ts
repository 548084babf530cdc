import { setTimeout as sleep } from 'node:timers/promises';
import { useStageEach } from '#test/support/stage.ts';
import { type FakeServer, type Seen, sendJson, startHttpServer } from './http-server.ts';

export interface ToolServer {
  url: string;
  /** Sets the tool's next responses; default: 200 immediately. */
  answer(name: string, behaviour: Behaviour): void;
  /** Holds the tool's responses until the returned function is called. */
  hold(name: string): () => void;
  /** The requests to the tool, oldest first. */
  calls(name: string): Seen[];
  /** An `http_request` node that calls this tool. */
  node(name: string, rest?: object): never;
  close(): Promise<void>;
}

export interface Behaviour {
  status?: number;
  body?: unknown;
  /** Computes the body of each response. */
  respond?: () => unknown;
  delayMs?: number;
  /** Responses wait for this. */
  until?: Promise<unknown>;
}

/** The outside world of a run: counts what each step really did. */
export async function startToolServer(): Promise<ToolServer> {
  const behaviours = new Map<string, Behaviour>();
  const closing = new AbortController();
  const server: FakeServer = await startHttpServer(async (request, response) => {
    const name = request.url.slice(1).split('?')[0] ?? '';
    const {
      status = 200,
      delayMs = 0,
      until,
      respond,
      body = respond?.(),
    } = behaviours.get(name) ?? {};
    if (delayMs > 0) {
      await sleep(delayMs, undefined, { signal: closing.signal }).catch(() => undefined);
    }
    await until;
    if (closing.signal.aborted) return;
    sendJson(response, status, body ?? { name, status });
  });
  return {
    url: server.url,
    answer: (name, behavior) => behaviours.set(name, behavior),
    hold: (name) => {
      const { promise: until, resolve } = Promise.withResolvers<undefined>();
      behaviours.set(name, { until });
      return () => resolve(undefined);
    },
    calls: (name) => server.seen.filter((seen) => seen.url.slice(1).split('?')[0] === name),
    node: (name, rest = {}) =>
      ({
        id: name,
        kind: 'tool',
        tool_name: 'http_request',
        params: { url: `${server.url}/${name}`, method: 'POST' },
        ...rest,
      }) as never,
    close: async () => {
      closing.abort();
      await server.close();
    },
  };
}

/** A new one for each test. */
export const useToolServer = (): ToolServer => useStageEach(startToolServer);
