import { callerOf } from '#test/api/test-api.ts';
import { startCollector } from '#test/fakes/collector.ts';
import { type FakeServer, sendJson, type Seen, startHttpServer } from '#test/fakes/http-server.ts';
import { buildApp } from '#api/app.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { startTracing } from '#shared/platform/tracing/start.ts';
import { createWorker } from '#worker/create-worker.ts';
import { startEngine } from './engine.ts';
import { operationsOf } from './api-operations.ts';
import { aim, targetsOf } from './attack-plan.ts';
import { setting } from './settings.ts';
import { historyTexts, rowTexts } from './stored-texts.ts';

/** A value with characters that every encoding writes in its own way. */
export const VALUE = 'Zq7/K+canary"wert?&9-xW2';
const encoded = encodeURIComponent(VALUE);
const bytes = (text: string): string[] => [...Buffer.from(text)].map((byte) => byte.toString(16));
/** What a server that has received the value can send back, by the path that asks for it. */
export const echoed: Record<string, string> = {
  plain: VALUE,
  repeated: VALUE.repeat(3),
  'base64-0': Buffer.from(VALUE).toString('base64'),
  'base64-1': Buffer.from(`x${VALUE}`).toString('base64'),
  'base64-2': Buffer.from(`xy${VALUE}yz`).toString('base64'),
  'base64url-0': Buffer.from(VALUE).toString('base64url'),
  'base64url-1': Buffer.from(`x${VALUE}`).toString('base64url'),
  'base64url-2': Buffer.from(`xy${VALUE}`).toString('base64url'),
  percent: encoded,
  'percent-lower': encoded.replace(/%../g, (escape) => escape.toLowerCase()),
  'percent-mixed': encoded.replace('%2F', '%2f'),
  'percent-all': bytes(VALUE)
    .map((byte) => `%${byte}`)
    .join(''),
  'percent-some': VALUE.replace('c', '%63').replace('Z', '%5a'),
  form: new URLSearchParams({ '': VALUE }).toString().slice(1),
  json: JSON.stringify(VALUE),
  'json-slash': JSON.stringify(VALUE).replaceAll('/', '\\/'),
  'json-unicode': VALUE.replace(
    /./g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  ),
  'json-some': JSON.stringify(VALUE).replace('Z', '\\u005A').replace('w', '\\u0077'),
  html: VALUE.replace('"', '&quot;').replace('&9', '&amp;9'),
  hex: bytes(VALUE).join(''),
};

/** Whether a text gives the value away, in any of these forms. */
export const gives = (text: string): string[] =>
  Object.entries(echoed)
    .filter(([form]) => form !== 'repeated')
    .filter(([form, written]) => {
      // The part that does not depend on its neighbors.
      const core = form.startsWith('base64') ? written.slice(4, -4) : written;
      return text.includes(core) || text.includes(JSON.stringify(core).slice(1, -1));
    })
    .map(([form]) => form);

/**
 * `/echo/<form>/<status>` repeats the value; `/to/<status>?<address>` redirects; `/asks/…` requires sign-in; others
 * repeat the request. `issuer` is the authorization server of the metadata.
 */
function answerAtHome(
  { away, issuer }: { away: FakeServer; issuer: string | undefined },
  request: Seen,
  response: Parameters<Parameters<typeof startHttpServer>[0]>[1],
): void {
  const url = new URL(request.url, 'http://home');
  const [, act, what = '', status = '200'] = url.pathname.split('/');
  if (act === 'echo') {
    response.writeHead(Number(status), {
      'content-type': 'text/plain',
      'x-echo': headerSafe(echoed[what]!),
    });
    response.end(`before ${echoed[what]} after`);
  } else if (act === 'json') {
    sendJson(response, 200, { [VALUE]: [VALUE, { deep: `x${VALUE}y` }] });
  } else if (act === 'to') {
    const query = url.searchParams.get('copy') === null ? '' : `?key=${encoded}`;
    const host = url.searchParams.get('host') ?? `127.0.0.1:${away.port}`;
    const scheme = url.searchParams.get('scheme') ?? 'http';
    response.writeHead(Number(what), { location: `${scheme}://${host}/caught${query}` }).end();
  } else if (act === 'named') {
    response.writeHead(302, { location: `http://${bytes(VALUE).join('')}.example.invalid/` }).end();
  } else if (act === '.well-known' && issuer !== undefined) {
    const resource = `http://${String(request.headers['host'])}/asks`;
    sendJson(response, 200, { resource, authorization_servers: [issuer] });
  } else if (act === 'asks') {
    const elsewhere = what === 'elsewhere' ? ` resource_metadata="${away.url}/metadata"` : '';
    response.writeHead(401, { 'www-authenticate': `Bearer${elsewhere}` }).end();
  } else if (act === 'hang') {
    response.destroy();
  } else {
    sendJson(response, 200, request);
  }
}

const headerSafe = (text: string): string => text.replaceAll('\\', '');

/** What an author can see of one run of one node. */
export interface Tried {
  status: string;
  text: string;
  error: string;
}

/**
 * A service with the secret `CANARY`, which may be sent to `home`; `away` is the server of an attacker. `places` are the
 * texts of everything that the service has written or returned.
 */
export async function startSecretWorld() {
  const [away, collector] = await Promise.all([
    startHttpServer((_request, response) => sendJson(response, 200, { got: 'it' })),
    startCollector(),
  ]);
  /** Where members sign in to `home`. */
  const signsIn: { issuer: string | undefined } = { issuer: undefined };
  const home = await startHttpServer((request, response) =>
    answerAtHome({ away, ...signsIn }, request, response),
  );
  const engine = await startEngine({
    worker: false,
    env: {
      ENCRYPTION_KEY: 'a key of this test, long enough',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_BSP_SCHEDULE_DELAY: '50',
    },
  });
  const { config, db, temporal } = engine.deps;
  let logged = '';
  const log = createLogger(
    { name: 'secrets', level: 'trace' },
    { write: (line) => void (logged += line) },
  );
  const tracing = await startTracing(config.tracing, { service: 'test', log });
  const bundle = { codePath: setting('WORKFLOW_BUNDLE') };
  const worker = await createWorker({ config, db, log, temporal, bundle });
  const app = buildApp({ ...engine.deps, log });
  await app.ready();
  const call = callerOf(app);
  const allowed_hosts = [`127.0.0.1:${home.port}`];
  const put = await call('PUT', '/api/secrets/CANARY', { value: VALUE, allowed_hosts });
  if (put.status !== 201) throw new Error(put.text);

  const define = (graph: object) => call('POST', '/api/workflows', { name: 'try', graph });
  const oneNode = (node: object) => define({ nodes: [node], edges: [] });
  return {
    engine,
    call,
    home,
    away,
    signsIn,
    define,
    /** Runs one node to its end. */
    run: async (node: object, input: object = {}): Promise<Tried> => {
      const made = await oneNode(node);
      const started = await call('POST', `/api/workflows/${made.body.id}/runs`, input);
      if (started.status !== 201) throw new Error(started.text);
      const runId = started.body.id as string;
      const { status, error } = await engine.until(runId, ['success', 'failed'], 30_000);
      const frames = JSON.stringify(await engine.frames(runId));
      const read = ['', '/messages'].map((path) => call('GET', `/api/runs/${runId}${path}`));
      const texts = (await Promise.all(read)).map(({ text }) => text);
      return { status, error: error ?? '', text: [...texts, frames].join('\n') };
    },
    /** Why a graph of one node is refused: code and path of each error. */
    refusals: async (node: object): Promise<[string, string | undefined][]> => {
      const made = await oneNode(node);
      const { body } = await call('POST', `/api/workflows/${made.body.id}/validate`);
      return body.errors.map(({ code, path }: { code: string; path?: string }) => [code, path]);
    },
    places: {
      rows: () => rowTexts(db),
      logs: async () => [logged],
      histories: () => historyTexts(temporal),
      traces: async () => {
        await tracing.stop();
        return [collector.received()];
      },
      'answers of every route that reads': async () => {
        const reads = operationsOf(app).filter(
          ({ method, isSocket }) => method === 'GET' && !isSocket,
        );
        const answers = [];
        for (const operation of reads) {
          const { url } = aim(operation, targetsOf(operation), () => 'CANARY');
          answers.push((await call('GET', url)).text);
        }
        return answers;
      },
    },
    close: async () => {
      await app.close();
      await worker.stop();
      await tracing.stop();
      await engine.close();
      await Promise.all([home.close(), away.close(), collector.close()]);
    },
  };
}
