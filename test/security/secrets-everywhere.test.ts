import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { WebSocket } from 'ws';
import { z } from 'zod';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { readFrames } from '#shared/db/runs/frames.ts';
import { sql } from '#shared/db/pool.ts';
import { ensureOwnerPassword } from '#shared/operations/people/sign-in.ts';
import { randomText } from '#shared/crypto/ids.ts';
import { createLogger } from '#shared/platform/logger.ts';
import { createWorker, type RunningWorker } from '#worker/create-worker.ts';
import { createWorkerMetrics } from '#worker/metrics.ts';
import { callerOf } from '#test/api/test-api.ts';
import { echoes, startEchoServer } from '#test/fakes/echo-server.ts';
import { operationsOf } from '#test/support/api-operations.ts';
import { aim, targetsOf } from '#test/support/attack-plan.ts';
import { type Engine, eventually, startEngine } from '#test/support/engine.ts';
import type { Kind } from '#test/support/populated-workspace.ts';
import { setting } from '#test/support/settings.ts';
import { historyTexts, rowTexts } from '#test/support/stored-texts.ts';
import { failWithCredentials, sendWrongCredentials } from './wrong-credentials.ts';

// Plants one secret of every kind and uses it, also against services that repeat in their responses what they receive.
// Then searches for each secret in every place where this service writes or returns data.

const planted = (kind: string) => `${kind}-canary-${randomText(24)}`;
/** Secrets by kind: those of the installation, then those of a workspace, generated or given. */
const secrets: Record<string, string> = {
  'signing key': planted('signing'),
  'encryption key': planted('encryption'),
  "owner's password": planted('owner'),
  'OpenAI key': `sk-${planted('openai')}`,
  'Anthropic key': planted('anthropic'),
  'Google key': planted('google'),
  'compatible key': planted('compatible'),
  'mail key': `re_${planted('mail')}`,
  'chat webhook': planted('chat'),
  'tool header': planted('tool'),
  'MCP tool header': planted('mcp'),
  'new password': planted('password'),
  'wrong credential': planted('wrong'),
};
/** Not a secret: where it is not found, the search does not work. */
const needle = `needle${randomText(20)}`;

/** Where a secret is allowed: in texts that match, for the reason beside it. */
const allowed: Record<string, Partial<Record<PlaceName, RegExp>>> = {
  // Senders sign with it, so it is stored in plain text; callers who can enable webhooks see it in the URL.
  'inbound webhook': {
    rows: /^workflow_webhooks /,
    answers: /^(GET|POST) \/api\/workflows\/\w+\/webhook\n/,
  },
  // A caller who can invite passes it on where email is not delivered.
  'invitation code': { answers: /^(POST \/api\/members\/invite|GET \/api\/members(\/\w+)?)\n/ },
  // Only the response that generated a secret contains it.
  'API key': { answers: /^POST \/api\/keys\n/ },
  'data key': { answers: /^POST \/api\/data\/keys\n/ },
  session: { answers: /^POST \/api\/auth\/login\n/ },
  'endpoint secret': { answers: /^POST \/api\/webhooks\n/ },
  'rotated endpoint secret': { answers: /^POST \/api\/webhooks\/\w+\/rotate-secret\n/ },
};

let engine: Engine;
let app: App;
let worker: RunningWorker;
let echo: Awaited<ReturnType<typeof startEchoServer>>;
let logged = '';
const answers: string[] = [];
const streamed: string[] = [];
const runIds: string[] = [];
const ids: Partial<Record<Kind, string>> = {};
let readMetrics: () => Promise<string>;

beforeAll(async () => {
  echo = await startEchoServer();
  engine = await startEngine({
    worker: false,
    env: {
      AUTH_MODE: 'required',
      SECRET_KEY: secrets['signing key']!,
      ENCRYPTION_KEY: secrets['encryption key']!,
      OWNER_PASSWORD: secrets["owner's password"]!,
      OPENAI_API_KEY: secrets['OpenAI key']!,
      OPENAI_BASE_URL: `${echo.url}/openai`,
      ANTHROPIC_API_KEY: secrets['Anthropic key']!,
      ANTHROPIC_BASE_URL: `${echo.url}/anthropic`,
      GOOGLE_API_KEY: secrets['Google key']!,
      GOOGLE_BASE_URL: `${echo.url}/google`,
      COMPATIBLE_API_KEY: secrets['compatible key']!,
      COMPATIBLE_BASE_URL: `${echo.url}/compatible`,
      EMAIL_API_KEY: secrets['mail key']!,
      EMAIL_API_URL: `${echo.url}/mail`,
      ALERT_EMAIL: 'alerts@example.com',
      CHAT_WEBHOOK_URL: `${echo.url}/chat/${secrets['chat webhook']}`,
      DELIVERY_BACKOFF_SECONDS: '0.01',
    },
  });
  const { config, db, temporal } = engine.deps;
  const log = createLogger(
    { name: 'secrets', level: 'trace' },
    { write: (line) => void (logged += line) },
  );
  log.info({ needle }, 'starting');
  const metrics = createWorkerMetrics(db, log);
  readMetrics = metrics.read;
  const bundle = { codePath: setting('WORKFLOW_BUNDLE') };
  worker = await createWorker({ config, db, log, temporal, bundle, metrics });
  app = buildApp({ ...engine.deps, log });
  await app.listen({ host: '127.0.0.1', port: 0 });
  await ensureOwnerPassword(db, config.auth.ownerPassword);
  await useEverySecret();
}, 180_000);
afterAll(async () => {
  await app.close();
  await worker.stop();
  await engine.close();
  await echo.close();
});

async function useEverySecret(): Promise<void> {
  const call = callerOf(app);
  let headers: Record<string, string> = {};
  const ask = async (
    method: string,
    url: string,
    body?: unknown,
    statuses = [200, 201, 202, 204],
    own = headers,
  ) => {
    const answer = await call(method, url, body, own);
    // The URL of a hook contains its secret, which the caller knows.
    const asked = url.startsWith('/api/hooks/') ? '/api/hooks' : url;
    answers.push(`${method} ${asked}\n${JSON.stringify(answer.headers)}\n${answer.text}`);
    expect([url, answer.status, statuses.includes(answer.status), answer.text]).toEqual([
      url,
      answer.status,
      true,
      answer.text,
    ]);
    return answer.body;
  };
  const make = (url: string, body?: unknown) => ask('POST', url, body);

  const signedIn = await make('/api/auth/login', {
    email: 'owner@localhost',
    password: secrets["owner's password"],
  });
  secrets['session'] = signedIn.token;
  headers = { authorization: `Bearer ${signedIn.token}` };
  secrets['API key'] = (await make('/api/keys', { name: needle, role: 'admin' })).secret;
  secrets['data key'] = (
    await make('/api/data/keys', { name: 'x', mode: 'live', scopes: ['usage:read'] })
  ).secret;
  const inviteBody = { name: 'x', email: 'invited@example.com', role: 'viewer' };
  const invited = await make('/api/members/invite', inviteBody);
  secrets['invitation code'] = invited.invite_code;
  const joining = await make('/api/members/invite', { ...inviteBody, email: 'a@example.com' });
  await make('/api/auth/accept-invite', {
    invite_code: joining.invite_code,
    password: secrets['new password'],
  });

  const tool = async (name: string, rest: object) =>
    make('/api/tools', { name, timeout_seconds: 5, retry_count: 0, ...rest });
  const bearer = (kind: string) => ({ Authorization: `Bearer ${secrets[kind]}` });
  const http = await tool('http-tool', {
    endpoint_url: `${echo.url}/tool`,
    headers: bearer('tool header'),
  });
  await tool('mcp-tool', {
    endpoint_url: `${echo.url}/mcp`,
    kind: 'mcp',
    mcp_tool: 'say',
    headers: bearer('MCP tool header'),
  });
  for (const want of echoes) {
    await ask('POST', `/api/tools/${http.id}/test`, { arguments: { want } }, [200, 502]);
  }
  // A refused value is not repeated in the error.
  const unfit = { headers: { 'X-Key': `${secrets['tool header']}\n` } };
  await ask('PUT', `/api/tools/${http.id}`, unfit, [400]);
  await ask('PUT', `/api/tools/${http.id}`, { headers: { '': secrets['tool header'] } }, [400]);

  const endpoint = await make('/api/webhooks', { url: `${echo.url}/hook`, events: ['ping'] });
  secrets['endpoint secret'] = endpoint.secret;
  await make(`/api/webhooks/${endpoint.id}/ping`);
  const { secret } = await make(`/api/webhooks/${endpoint.id}/rotate-secret`);
  secrets['rotated endpoint secret'] = secret;
  await make(`/api/webhooks/${endpoint.id}/ping`);

  const define = async (node: object) => {
    const graph = { nodes: [{ id: 'a', ...node }], edges: [] };
    return (await make('/api/workflows', { name: 'x', graph })).id as string;
  };
  const gated = await define({ kind: 'human_gate', prompt: needle });
  const { url } = await make(`/api/workflows/${gated}/webhook`);
  secrets['inbound webhook'] = String(url).split('/').at(-1)!;
  const hooked = await make(`/api/hooks/${gated}/${secrets['inbound webhook']}`, { needle });
  await ask('POST', `/api/hooks/${gated}/${secrets['inbound webhook']}x`, {}, [404]);
  runIds.push(hooked.run_id);

  const nodes = [...echoes, 'refuse'].flatMap((want) => [
    ...[
      'openai/gpt-5-mini',
      'anthropic/claude-haiku-4-5',
      'google/gemini-2.5-flash',
      'compatible/local',
    ].map((model) => ({
      kind: 'agent',
      model,
      prompt: want,
    })),
    ...['http-tool', 'mcp-tool'].map((name) => ({
      kind: 'tool',
      tool_name: `custom:${name}`,
      params: { want },
    })),
    {
      kind: 'tool',
      tool_name: 'send_email',
      params: { to: 'x@example.com', subject: want, text: want },
    },
    { kind: 'tool', tool_name: 'send_chat_message', params: { text: want } },
  ]);
  const started = await Promise.all(
    nodes.map(async (node) => (await make(`/api/workflows/${await define(node)}/runs`, {})).id),
  );
  runIds.push(...started);
  await Promise.all(started.map((runId) => engine.until(runId, ['success', 'failed'], 60_000)));
  await engine.until(hooked.run_id, ['paused']);
  await stream(hooked.run_id, async () => {
    await make(`/api/runs/${hooked.run_id}/approve`, { approved: true });
    await engine.until(hooked.run_id, ['success']);
  });
  await make('/api/workspace/alerts/test');
  // Alerts, emails and deliveries also end, all of them without success.
  await eventually(
    async () =>
      (await engine.db.oneFirst(sql.type(z.object({ n: z.number() }))`
        SELECT count(*) AS n FROM data_deliveries WHERE status = 'pending'`)) === 0,
    30_000,
  );

  Object.assign(ids, {
    workflow: gated,
    run: started[0],
    member: invited.id,
    tool: http.id,
    endpoint: endpoint.id,
    version: '1',
  });
  // Calls every route that reads.
  for (const operation of operationsOf(app)) {
    if (operation.method !== 'GET' || operation.isSocket) continue;
    const { url: address } = aim(operation, targetsOf(operation), (target) =>
      target.in === 'path' ? (ids[target.kind] ?? 'x_unknown') : undefined,
    );
    await ask('GET', address, undefined, [200, 401, 404, 503]);
  }
  for (const runId of runIds) await ask('GET', `/api/runs/${runId}`);

  const owner = { email: 'owner@localhost', password: secrets["owner's password"]! };
  const word = secrets['wrong credential']!;
  const streamUrl = `${socketUrl()}/api/runs/${hooked.run_id}/stream`;
  await sendWrongCredentials(ask, word, { email: owner.email, streamUrl });
  await failWithCredentials(ask, engine.db, { word, key: secrets['API key']!, owner });
}

const socketUrl = () => `ws://127.0.0.1:${(app.server.address() as { port: number }).port}`;

async function stream(runId: string, whileOpen: () => Promise<void>): Promise<void> {
  const socket = new WebSocket(
    `${socketUrl()}/api/runs/${runId}/stream?token=${secrets['session']}`,
  );
  socket.on('message', (data) => streamed.push((data as Buffer).toString()));
  await new Promise((resolve, reject) => socket.on('open', resolve).on('error', reject));
  await whileOpen();
  await eventually(() => streamed.some((frame) => frame.includes('run_completed')));
  socket.close();
}

/** The texts of each place; rows start with the name of their table. */
const places = {
  logs: async () => [logged],
  rows: () => rowTexts(engine.db),
  histories: () => historyTexts(engine.deps.temporal),
  answers: async () => answers,
  'stream frames': async () => [
    ...streamed,
    ...(
      await readFrames(
        engine.db,
        runIds.map((runId) => ({ runId, after: 0 })),
      )
    ).map((row) => JSON.stringify(row.frame)),
  ],
  metrics: async () => [
    await readMetrics(),
    (await app.inject({ method: 'GET', url: '/metrics', remoteAddress: '127.0.0.1' })).payload,
  ],
  'OpenAPI documents': async () =>
    ['ops', 'data'].map((name) =>
      readFileSync(join(import.meta.dirname, `../../docs/openapi/${name}.json`), 'utf8'),
    ),
};
type PlaceName = keyof typeof places;

/** A text that each place certainly contains, so that a broken search fails. */
const inSight: Record<PlaceName, string> = {
  logs: needle,
  rows: needle,
  histories: needle,
  answers: needle,
  'stream frames': needle,
  metrics: 'workflow_step_duration_seconds',
  'OpenAPI documents': '/api/runs/{id}',
};

/** A text as services, logs and encoders write it. Of a token only its signature, since all tokens start alike. */
function spellings(secret: string): string[] {
  const tail = secret.startsWith('eyJ') ? (secret.split('.').at(-1) ?? secret) : secret;
  const base64 = Buffer.from(tail).toString('base64').replace(/=+$/, '').slice(0, -1);
  return [tail, base64, Buffer.from(tail).toString('hex'), encodeURIComponent(tail)];
}

describe.each(Object.keys(places) as PlaceName[])('in %s', (place) => {
  let texts: string[];
  beforeAll(async () => {
    texts = await places[place]();
  }, 60_000);

  test('a search finds visible content', () => {
    expect(texts.some((text) => text.includes(inSight[place]))).toBe(true);
  });

  test('no secret appears, except where it belongs', () => {
    const wrong = Object.entries(secrets).flatMap(([kind, secret]) =>
      texts
        .filter((text) => spellings(secret).some((one) => text.includes(one)))
        .filter((text) => allowed[kind]?.[place]?.test(text) !== true)
        .map((text) => [kind, text.slice(0, 300)]),
    );
    expect(wrong).toEqual([]);
  });
});

test('no hash of a credential is in the logs', () => {
  expect(logged).toContain('request failed');
  expect(logged).not.toContain('$argon2id$');
  // The start of api_keys.secret_hash, as Postgres writes it.
  expect(logged).not.toMatch(/\\x[0-9a-f]{40}/);
});

test('the test servers received and echoed the secrets', async () => {
  const outputs = await Promise.all(runIds.map((runId) => engine.run(runId)));
  const cut = outputs.filter((run) => JSON.stringify(run).includes('***'));
  // Models, tools and chat, each when it accepts and when it refuses.
  expect(cut.length).toBeGreaterThan(12);
});
