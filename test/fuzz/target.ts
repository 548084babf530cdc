import { setTimeout as sleep } from 'node:timers/promises';
import { createWorkspace } from '#shared/db/people/workspaces.ts';
import { connectDatabase } from '#shared/db/pool.ts';
import { hashPassword } from '#shared/platform/secrets/passwords.ts';
import { type FakeServer, sendJson, startHttpServer } from '#test/fakes/http-server.ts';
import {
  startApiProcess,
  startWorkerProcess,
  type TestApi,
  type TestProcess,
} from '#test/support/processes.ts';
import type { OpenApiDocument } from './document.ts';
import { PASSWORD } from './meaning.ts';
import type { McpTool } from './mcp.ts';
import type { Cast } from './requests.ts';
import type { Credential } from './state.ts';
import { stock, type Stock } from './stock.ts';

/** The service under test, with its users and a fake of all external services. */
export interface FuzzedService {
  url: string;
  /** Base URL of the fake. */
  outside: string;
  /** By surface, as the service returns them. */
  documents: { operations: OpenApiDocument; data: OpenApiDocument };
  tools: McpTool[];
  cast: Cast;
  stock: Stock;
  /** Ids that the cast depends on. */
  own: string[];
  processes: Record<string, Pick<TestProcess, 'pid'>>;
  stop(): Promise<void>;
}

export interface Stores {
  databaseUrl: string;
  temporalAddress: string;
  taskQueuePrefix: string;
  workflowBundle: string;
}

const owner = { email: 'owner@fuzz.test', password: 'a password of the fuzzer' };
const stranger = { email: 'owner@elsewhere.test', password: 'a password elsewhere' };

/** Rate limits per minute of one address, and of one key of the data API. Most requests have their own address. */
const PER_MINUTE = 600;
const DATA_PER_MINUTE = 1_000_000;

/** Starts one API process and one worker on a separate, migrated database. */
export async function startFuzzedService(stores: Stores): Promise<FuzzedService> {
  const fake = await startOutside();
  const env = {
    DATABASE_URL: stores.databaseUrl,
    TEMPORAL_ADDRESS: stores.temporalAddress,
    TASK_QUEUE_PREFIX: stores.taskQueuePrefix,
    WORKFLOW_BUNDLE: stores.workflowBundle,
    LOG_LEVEL: 'warn',
    AUTH_MODE: 'required',
    OWNER_EMAIL: owner.email,
    OWNER_PASSWORD: owner.password,
    SECRET_KEY: 'the fuzzer signs sessions with this',
    ENCRYPTION_KEY: 'the fuzzer seals secrets with this',
    EGRESS_ALLOW: '127.0.0.0/8',
    CHAT_WEBHOOK_URL: `${fake.url}/alerts`,
    // Requests never reach a real model provider.
    OPENAI_BASE_URL: `${fake.url}/models`,
    ANTHROPIC_BASE_URL: `${fake.url}/models`,
    GOOGLE_BASE_URL: `${fake.url}/models`,
    COMPATIBLE_BASE_URL: `${fake.url}/models`,
    TRUSTED_PROXIES: '127.0.0.1',
    RATE_LIMIT_PER_MINUTE: String(PER_MINUTE),
    DATA_RATE_LIMIT_PER_MINUTE: String(DATA_PER_MINUTE),
    DATA_KEY_FAILURES_PER_MINUTE: '20',
    // Deliveries finish within seconds.
    DELIVERY_BACKOFF_SECONDS: '0.01',
  };
  const stops: (() => Promise<void>)[] = [fake.close];
  const stop = async (): Promise<void> => {
    for (const each of stops.toReversed()) await each();
  };
  try {
    const api = await startApiProcess(env);
    stops.push(api.stop);
    const worker = await startWorkerProcess(env);
    stops.push(worker.stop);
    return { ...(await furnish(api, stores, fake.url)), processes: { api, worker }, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Tools and receivers that respond normally, late or with an error. */
async function startOutside(): Promise<FakeServer> {
  const server = await startHttpServer(async (request, response) => {
    // The requests are not used, and there are tens of thousands.
    server.seen.length = 0;
    const [, place, name] = request.url.split('/');
    if (name === 'late') await sleep(200);
    sendJson(response, place === 'models' || name === 'broken' ? 500 : 200, { ok: true });
  });
  return server;
}

async function furnish(
  { url }: TestApi,
  { databaseUrl }: Stores,
  outside: string,
): Promise<Omit<FuzzedService, 'processes' | 'stop'>> {
  await addStrangers(databaseUrl);
  const ask = async (
    method: string,
    path: string,
    body?: unknown,
    by?: Credential,
  ): Promise<any> => {
    const response = await fetch(`${url}${path}`, {
      method,
      headers: {
        ...by?.headers,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} was answered ${response.status}: ${text}`);
    return text === '' ? undefined : JSON.parse(text);
  };
  const own: string[] = [];
  const signIn = async (
    name: string,
    login: { email: string; password: string },
  ): Promise<Credential> => {
    const { token, member } = await ask('POST', '/api/auth/login', login);
    own.push(member.id);
    return { name, headers: { authorization: `Bearer ${token}` }, login };
  };
  const boss = await signIn('owner', owner);
  const elsewhere = await signIn('owner of another workspace', stranger);
  await ask('PUT', '/api/workspace/plan', { plan: 'enterprise' }, boss);
  const addMember = async (role: string): Promise<Credential> => {
    const email = `${role}@fuzz.test`;
    const invited = await ask('POST', '/api/members/invite', { name: role, email, role }, boss);
    await ask('POST', '/api/auth/accept-invite', {
      invite_code: invited.invite_code,
      password: PASSWORD,
    });
    return signIn(role, { email, password: PASSWORD });
  };
  const viewer = await addMember('viewer');
  const editor = await addMember('editor');
  const overrides = { run_workflows: false, approve_gates: false };
  await ask('PUT', `/api/members/${own.at(-1)}/permissions`, { overrides }, boss);
  const addKey = async (path: string, name: string, body: object): Promise<Credential> => {
    const key = await ask('POST', path, { name, ...body }, boss);
    own.push(key.id);
    return { name, headers: { 'x-api-key': key.secret } };
  };
  const keyOf = (name: string, role: string) => addKey('/api/keys', name, { role });
  const crowd = await keyOf('key from a crowded address', 'admin');
  const scopes = [
    ...['feeds:read', 'entities:read', 'events:read', 'sources:read', 'usage:read'],
    ...['exports:create', 'webhooks:read', 'webhooks:write'],
  ];
  const dataKey = (name: string, body: object) =>
    addKey('/api/data/keys', name, { mode: 'live', scopes, ...body });
  const nobody = { name: 'nobody', headers: {} };
  const list = await ask('POST', '/api/mcp', { jsonrpc: '2.0', id: 1, method: 'tools/list' }, boss);
  return {
    url,
    outside,
    documents: {
      operations: await ask('GET', '/api/openapi.json'),
      data: await ask('GET', '/v1/openapi.json'),
    },
    tools: list.result.tools,
    cast: {
      owner: boss,
      crowd,
      others: [
        [4, await keyOf('admin key', 'admin')],
        [3, viewer],
        [3, editor],
        [2, await keyOf('viewer key', 'viewer')],
        [3, elsewhere],
        [2, nobody],
        [1, { name: 'unknown key', headers: { 'x-api-key': 'ops_unknown' } }],
        [2, crowd],
      ],
      dataKeys: [
        [14, await dataKey('live data key', {})],
        [4, await dataKey('test data key', { mode: 'test' })],
        [1, await dataKey('data key for feeds', { scopes: ['feeds:read'] })],
        [1, await dataKey('data key of few requests', { monthly_request_allowance: 20 })],
        [1, await dataKey('data key of few credits', { monthly_credit_allowance: 20 })],
        [1, nobody],
        [1, crowd],
        [1, { name: 'unknown data key', headers: { authorization: 'Bearer svc_live_unknown' } }],
      ],
    },
    stock,
    own,
  };
}

/** Creates another workspace, whose objects must stay invisible to the cast. */
async function addStrangers(databaseUrl: string): Promise<void> {
  const db = await connectDatabase(databaseUrl, { maxPoolSize: 1 });
  try {
    const passwordHash = await hashPassword(stranger.password);
    await createWorkspace(db, {
      name: 'Elsewhere',
      owner: { name: 'Stranger', email: stranger.email, passwordHash },
    });
  } finally {
    await db.end();
  }
}
