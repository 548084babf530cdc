import { setTimeout as sleep } from 'node:timers/promises';
import { SignatureError, verifyWebhook } from '#client/index.ts';
import { type FakeServer, type Seen, sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import { openEventFile } from './events.ts';
import type { Random } from './random.ts';

/** One call from a step to the outside. */
export interface EffectCall {
  at: number;
  /** The header `Idempotency-Key`: run, step key, generation. */
  key: string;
  tool: string;
  body: string;
  /** The status of the response; 0: the connection was broken instead. */
  status: number;
}

/** One received delivery. */
export interface Received {
  at: number;
  endpoint: string;
  delivery: string;
  eventId: string;
  type: string;
  body: string;
  status: number;
  /** Undefined: valid. */
  signatureProblem?: string;
}

/** The systems around the service: the tools that runs call, and the receivers of events and alerts. */
export interface Outside {
  effects: EffectCall[];
  received: Received[];
  alerts: string[];
  toolUrl(tool: string): string;
  endpointUrl(endpoint: string): string;
  chatUrl: string;
  /** From now on, the receiver checks signatures with this secret. */
  learnSecret(endpoint: string, secret: string): void;
  /** From now on, all responses succeed, except from endpoints called `broken`. */
  calm(): void;
  close(): Promise<void>;
}

/**
 * Sometimes tools respond with an error, late or not at all, and endpoints fail; an endpoint called `broken` always
 * fails.
 */
export async function startOutside(folder: string, random: Random): Promise<Outside> {
  const log = openEventFile(folder, 'outside.ndjson');
  const effects: EffectCall[] = [];
  const received: Received[] = [];
  const alerts: string[] = [];
  const secrets = new Map<string, string>();
  let calm = false;

  const callTool = async (tool: string, request: Seen): Promise<number> => {
    const how = calm
      ? 'well'
      : random.weighted([
          [tool === 'flaky' ? 50 : 88, 'well'],
          [6, 'late'],
          [tool === 'flaky' ? 30 : 2, 'error'],
          [tool === 'flaky' ? 14 : 2, 'break'],
        ] as const);
    const status = how === 'error' ? 503 : how === 'break' ? 0 : 200;
    const key = String(request.headers['idempotency-key'] ?? '');
    effects.push({ at: Date.now(), key, tool, body: request.body, status });
    log.write({ tool, key, status, how });
    if (how === 'late') await sleep(random.int(300, 3_000));
    return status;
  };

  const takeDelivery = async (endpoint: string, request: Seen): Promise<number> => {
    const fails = endpoint === 'broken' || (!calm && random.chance(0.2));
    const status = fails ? 500 : 200;
    const delivery = String(request.headers['x-service-delivery'] ?? '');
    const event = JSON.parse(request.body) as { id: string; type: string };
    const entry: Received = {
      at: Date.now(),
      endpoint,
      delivery,
      eventId: event.id,
      type: event.type,
      body: request.body,
      status,
    };
    try {
      await verifyWebhook({
        secret: secrets.get(endpoint) ?? 'unknown',
        signature: String(request.headers['x-service-signature']),
        body: request.body,
      });
    } catch (error) {
      if (!(error instanceof SignatureError)) throw error;
      entry.signatureProblem = error.message;
    }
    received.push(entry);
    log.write({ endpoint, delivery, event: event.id, type: event.type, status });
    return status;
  };

  const server: FakeServer = await startHttpServer(async (request, response) => {
    const [, place = '', name = ''] = request.url.split('?')[0]?.split('/') ?? [];
    let status = 200;
    if (place === 'tools') status = await callTool(name, request);
    else if (place === 'endpoints') status = await takeDelivery(name, request);
    else alerts.push(request.body);
    if (status === 0) response.socket?.destroy();
    else sendJson(response, status, { ok: status === 200 });
  });

  return {
    effects,
    received,
    alerts,
    toolUrl: (tool) => `${server.url}/tools/${tool}`,
    endpointUrl: (endpoint) => `${server.url}/endpoints/${endpoint}`,
    chatUrl: `${server.url}/alerts`,
    learnSecret: (endpoint, secret) => void secrets.set(endpoint, secret),
    calm: () => {
      calm = true;
    },
    close: server.close,
  };
}
