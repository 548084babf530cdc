import { randomText } from '#shared/crypto/ids.ts';
import type { JsonObject } from '#shared/json.ts';
import type { TestApi } from '#test/api/test-api.ts';
import { edge } from './engine.ts';

/** Kinds of objects that a request can reference by an id or similar. */
export const kinds = [
  'workflow',
  'run',
  'member',
  'backtest',
  'experiment',
  'inbound event',
  'sent event',
  'event replay',
  'budget',
  'api key',
  'authorization',
  'tool',
  'connection',
  'schedule',
  'trigger',
  'template',
  'feed',
  'source',
  'entity',
  'event',
  'data key',
  'endpoint',
  'delivery',
  'outbound event',
  'version',
  'hook secret',
  'idempotency key',
  'event key',
] as const;
export type Kind = (typeof kinds)[number];

export interface PopulatedWorkspace {
  /** Contained in every name, text and payload of the workspace. */
  mark: string;
  ids: Record<Kind, string>;
  /** Credentials and secrets of all kinds. */
  secrets: string[];
  /** Headers of an administrator with a session. */
  headers: Record<string, string>;
  token: string;
  /** Headers of a member with read access only. */
  viewer: Record<string, string>;
  /** Headers of credentials with all permissions, for each surface. */
  callers: { ops: Record<string, string>[]; data: Record<string, string>[] };
}

const dataScopes = [
  ...['feeds:read', 'entities:read', 'events:read', 'sources:read'],
  ...['usage:read', 'exports:create', 'webhooks:read', 'webhooks:write'],
];

/**
 * Fills a workspace through the API with one object of each kind: a run that waits at a gate, records with an event, an
 * endpoint with a delivery. `hook` is a URL that responds with 200. A worker must be running.
 */
export async function populate(
  call: TestApi['call'],
  { token, hook }: { token: string; hook: string },
): Promise<PopulatedWorkspace> {
  const mark = `mark${randomText(16)}`;
  const headers = { authorization: `Bearer ${token}` };
  const secrets = [token];
  const ask = async (method: string, url: string, body?: unknown, own = {}): Promise<any> => {
    const answer = await call(method, url, body, { ...headers, ...own });
    if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.status} ${answer.text}`);
    return answer.body;
  };
  const make = async (url: string, body?: JsonObject, own = {}) => ask('POST', url, body, own);

  const gated = (prompt: string): JsonObject => ({
    nodes: [
      { id: 'gate', kind: 'human_gate', prompt },
      { id: 'after', kind: 'agent', prompt: mark, mock: {} },
    ],
    edges: [edge('gate', 'after')],
  });
  const { id: workflow } = await make('/api/workflows', {
    name: `Workflow ${mark}`,
    description: mark,
    graph: gated('First?'),
  });
  await ask('PUT', `/api/workflows/${workflow}`, { graph: gated(mark) });
  await ask('PUT', `/api/workflows/${workflow}/checks`, [
    { name: mark, type: 'max_cost_usd', value: 1 },
  ]);
  await make(`/api/workflows/${workflow}/publish`);
  const hookUrl: string = (await make(`/api/workflows/${workflow}/webhook`)).url;
  const hookSecret = hookUrl.split('/').at(-1) ?? '';
  await ask('PUT', `/api/workflows/${workflow}/webhook/config`, { dedup_window_seconds: 3_600 });
  const eventKey = `event-${randomText(16)}`;
  const idempotencyKey = `key-${randomText(16)}`;
  const { id: run } = await make(
    `/api/workflows/${workflow}/runs`,
    { ticket: mark },
    { 'idempotency-key': idempotencyKey },
  );
  const hooked = await call(
    'POST',
    `/api/hooks/${workflow}/${hookSecret}`,
    { ticket: mark },
    { 'x-service-event-id': eventKey, 'user-agent': `Sender ${hookSecret}` },
  );
  await untilPaused(ask, [run, hooked.body.run_id]);

  const key = await make('/api/keys', { name: mark, role: 'admin' });
  const authorization = await authorize(call, { make, mark, secrets });
  const dataKey = await make('/api/data/keys', { name: mark, mode: 'live', scopes: dataScopes });
  const testKey = await make('/api/data/keys', { name: mark, mode: 'test', scopes: dataScopes });
  const invite = async (email: string) =>
    make('/api/members/invite', { name: mark, email, role: 'viewer' });
  const member = await invite(`${mark}@example.com`);
  const accepted = await call('POST', '/api/auth/accept-invite', {
    invite_code: member.invite_code,
    password: 'correct horse battery',
  });
  const invited = await invite(`invited-${mark}@example.com`);
  const tool = await make('/api/tools', {
    name: mark,
    endpoint_url: hook,
    headers: { authorization: `Bearer tool-${mark}` },
  });
  const connection = await make('/api/connections', {
    name: mark.toUpperCase(),
    authorization_url: 'https://login.example.com/authorize',
    token_url: 'https://login.example.com/token',
    client_id: mark,
    client_secret: `client-${mark}`,
    scopes: [mark],
    allowed_hosts: [`${mark}.example.com`],
  });
  const { id: feed } = await make('/api/data/feeds', { name: `Feed ${mark}` });
  const { id: source } = await make('/api/data/sources', {
    name: `Source ${mark}`,
    type: 'portal',
  });
  await make('/api/data/ingest', {
    feed_id: feed,
    records: [
      {
        type: 'entity',
        external_key: mark,
        entity_type: 'project',
        canonical_name: mark,
        attributes: { mark },
        source_evidence: [{ source_id: source }],
      },
      {
        type: 'event',
        external_key: mark,
        event_type: 'permit_filed',
        primary_external_key: mark,
        occurred_at: '2026-01-01T00:00:00Z',
        summary: mark,
      },
    ],
  });
  const entities = await ask('GET', `/api/data/entities?feed_id=${feed}`);
  const events = await ask('GET', `/api/data/events?feed_id=${feed}`);
  const endpoint = await make('/api/webhooks', { url: hook, events: ['ping'] });
  const pinged = await make(`/api/webhooks/${endpoint.id}/ping`);
  const rotated = await make(`/api/webhooks/${endpoint.id}/rotate-secret`);
  await ask('PUT', '/api/workspace', { name: mark });
  await ask('PUT', '/api/workspace/policies', {
    tools: [{ tool: `custom:${mark}`, allowed_workflow_ids: [workflow] }],
  });
  await ask('PUT', '/api/workspace/prices', {
    prices: [{ model: `mark/${mark}`, input_usd_per_million: 1, output_usd_per_million: 1 }],
  });
  const backtest = await make('/api/workspace/policies/backtest', {
    policies: { tools: [{ tool: `custom:${mark}`, allowed_workflow_ids: [workflow] }] },
    since: '2026-01-01',
    workflow_id: workflow,
  });
  await make(`/api/workspace/policies/backtest/${backtest.id}/cancel`);
  const { id: ended } = await make(`/api/workflows/${workflow}/runs`, { ticket: mark });
  await make(`/api/runs/${ended}/cancel`);
  const experiment = await make(`/api/workflows/${workflow}/experiments`, {
    candidate: { version: 1 },
    runs: [ended],
  });
  await call('POST', `/api/experiments/${experiment.id}/cancel`);
  const replay = await make(`/api/workflows/${workflow}/inbound-events/replay`, {
    since: '2026-01-01',
  });
  await call('POST', `/api/event-replays/${replay.id}/cancel`);
  const received = await ask('GET', `/api/workflows/${workflow}/inbound-events?outcome=run`);
  const sent = await make('/api/events', { name: 'letter.received', data: { mark } });
  const budget = await make('/api/budgets', { name: mark, limit_usd: 1_000 });
  const schedule = await make('/api/schedules', {
    workflow_id: workflow,
    name: mark,
    cron: '@yearly',
    input: { mark },
  });
  const trigger = await make(`/api/workflows/${workflow}/triggers`, {
    event: 'letter.answered',
    match: `event.data.mark == '${mark}'`,
    input: { mark },
  });
  const template = await make('/api/templates', { name: mark, workflow_id: workflow });
  secrets.push(
    hookSecret,
    key.secret,
    dataKey.secret,
    testKey.secret,
    invited.invite_code,
    endpoint.secret,
    rotated.secret,
  );
  secrets.push(`tool-${mark}`, `client-${mark}`, accepted.body.token);
  return {
    mark,
    secrets,
    headers,
    token,
    viewer: { authorization: `Bearer ${accepted.body.token}` },
    callers: {
      ops: [headers, { 'x-api-key': key.secret }],
      data: [{ 'x-api-key': dataKey.secret }, { 'x-api-key': testKey.secret }],
    },
    ids: {
      workflow,
      run,
      member: member.id,
      backtest: backtest.id,
      experiment: experiment.id,
      'inbound event': received.events[0].id,
      'sent event': sent.id,
      'event replay': replay.id,
      budget: budget.id,
      'api key': key.id,
      authorization: authorization.id,
      tool: tool.id,
      connection: connection.id,
      schedule: schedule.id,
      trigger: trigger.id,
      template: template.id,
      feed,
      source,
      entity: entities.entities[0].id,
      event: events.events[0].id,
      'data key': dataKey.id,
      endpoint: endpoint.id,
      delivery: pinged.id,
      'outbound event': pinged.event_id,
      version: '2',
      'hook secret': hookSecret,
      'idempotency key': idempotencyKey,
      'event key': eventKey,
    },
  };
}

/** A client of `/api/mcp` that a member has authorized, with tokens. */
async function authorize(
  call: TestApi['call'],
  of: { make: (url: string, body: JsonObject) => Promise<any>; mark: string; secrets: string[] },
): Promise<{ id: string }> {
  const { make, mark, secrets } = of;
  const redirect_uri = 'http://127.0.0.1:9/callback';
  const { client_id } = await make('/api/oauth/register', {
    client_name: mark,
    redirect_uris: [redirect_uri],
  });
  const code_challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM';
  const asked = { client_id, redirect_uri, code_challenge, code_challenge_method: 'S256' };
  const { authorization, redirect_to } = await make('/api/authorizations', {
    request: { ...asked, response_type: 'code' },
    scopes: ['view'],
  });
  const exchanged = await call('POST', '/api/oauth/token', {
    ...{ grant_type: 'authorization_code', client_id, redirect_uri },
    code: new URL(redirect_to).searchParams.get('code'),
    code_verifier: 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk',
  });
  secrets.push(exchanged.body.access_token, exchanged.body.refresh_token);
  return authorization;
}

async function untilPaused(
  ask: (method: string, url: string) => Promise<any>,
  runIds: readonly string[],
): Promise<void> {
  for (const runId of runIds) {
    for (let tries = 0; (await ask('GET', `/api/runs/${runId}`)).status !== 'paused'; tries += 1) {
      if (tries > 200) throw new Error(`${runId} does not come to its gate`);
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
}
