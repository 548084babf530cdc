import type { Seen } from '#test/fakes/http-server.ts';
import { type FakeServer, sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import type { EngineWithApi } from '#test/api/engine-api.ts';
import type { TestApi } from '#test/api/test-api.ts';
import type { Model } from './model.ts';

/** What is around a task: the service with its members, and other services that its workflows call. */
export interface World {
  engine: EngineWithApi;
  call: TestApi['call'];
  outside: Outside;
}

export interface Outside {
  url: string;
  /** The requests to this path so far, oldest first, with their bodies. */
  sent(path: string): { headers: Seen['headers']; body: any }[];
  /** The most requests that were open at the same time. */
  mostAtOnce(): number;
  close(): Promise<void>;
}

/** How long `/slowly` takes, so that requests meet. */
const SLOWLY_MS = 150;

/** Invoices, suppliers and payments of other companies. */
export async function startOutside(): Promise<Outside> {
  let open = 0;
  let most = 0;
  const tries = new Map<string, number>();
  const times = (url: string): number => {
    tries.set(url, (tries.get(url) ?? 0) + 1);
    return tries.get(url) ?? 0;
  };
  const server: FakeServer = await startHttpServer(async ({ url }, response) => {
    const [, kind = '', of = ''] = url.split('/');
    open += 1;
    most = Math.max(most, open);
    if (kind === 'slowly') await new Promise((resolve) => setTimeout(resolve, SLOWLY_MS));
    open -= 1;
    if (kind === 'invoices') {
      return sendJson(response, 200, { amount: Number(of.replace(/\D/g, '')), supplier: 'Ada' });
    }
    // Down for the first two requests.
    if (kind === 'shaky' && times(url) < 3) return sendJson(response, 503, { error: 'down' });
    // Better each time.
    if (kind === 'essays') return sendJson(response, 200, { mark: times(url) * 3 });
    return sendJson(response, 200, { ok: true, id: of });
  });
  return {
    url: server.url,
    sent: (path) =>
      server.seen
        .filter(({ url }) => url === path || url.startsWith(`${path}/`))
        .map(({ headers, body }) => ({
          headers,
          body: body === '' ? undefined : JSON.parse(body),
        })),
    mostAtOnce: () => most,
    close: server.close,
  };
}

export interface Task {
  title: string;
  /** What the person asks for. */
  request: (world: World) => string;
  own: readonly string[];
  /** What was there before. Returns what `solve` does not get: it has to find it. */
  prepare?: (world: World) => Promise<unknown>;
  /** Returns the id of what it made. */
  solve: (model: Model, world: { url: string }) => Promise<string>;
  /** Shows what the workflow does on the service. */
  prove: (made: string, world: World, prepared: any) => Promise<void>;
}
