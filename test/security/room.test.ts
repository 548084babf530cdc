import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { requireRoom } from '#shared/db/people/limits.ts';
import { sql } from '#shared/db/pool.ts';
import { type LimitedNoun, workspaceLimits } from '#shared/limits.ts';
import { oneStep, useTestApi } from '#test/api/test-api.ts';
import { raceRounds, soakTest } from '#test/support/soak.ts';

// One tenant must not be able to fill what all share. Every resource of a workspace has a limit: each route that
// creates one is either tested here or listed with its other limit.

const api = useTestApi({
  ENCRYPTION_KEY: 'a key of this test, long enough',
  EGRESS_ALLOW: '127.0.0.0/8',
});
let workflowId: string;
let templateId: string;
const experimented = { workflowId: '', runId: '' };
beforeAll(async () => {
  workflowId = (await api.call('POST', '/api/workflows', { name: 'x', graph: oneStep })).body.id;
  const experiments = await api.call('POST', '/api/workflows', { name: 'tried', graph: oneStep });
  experimented.workflowId = experiments.body.id;
  const ended = await api.call('POST', `/api/workflows/${experiments.body.id}/runs`, {
    ticket: 'x',
  });
  experimented.runId = ended.body.id;
  await api.call('POST', `/api/runs/${ended.body.id}/cancel`);
  templateId = (await api.call('GET', '/api/templates')).body[0].id;
});

let made = 0;
interface Maker {
  noun: LimitedNoun;
  url: () => string;
  body: () => unknown;
  /** Inserts this many rows directly into the database. */
  fill: (n: number) => ReturnType<typeof sql.fragment>;
  /** Of the answer; 201 without it. */
  status?: number;
}
const ws = () => api.workspaceId;
const rows = (n: number) => sql.fragment`generate_series(1, ${n}::int) n`;

const endpointRoom = (url: string, events: string[]): Maker => ({
  noun: 'endpoints',
  url: () => url,
  body: () => ({ url: 'http://127.0.0.1:9/', events }),
  fill: (n) => sql.fragment`
    INSERT INTO data_endpoints (id, workspace_id, is_demo, url, events, secret)
    SELECT 'end_' || n, ${ws()}, false, 'http://127.0.0.1:9/', '{ping}', 'x' FROM ${rows(n)}`,
});

/** Every route that creates a resource of a workspace. */
const makers: Record<string, Maker> = {
  'POST /api/workflows': {
    noun: 'workflows',
    url: () => '/api/workflows',
    body: () => ({ name: 'x', graph: oneStep }),
    fill: (n) => sql.fragment`
      INSERT INTO workflows (id, workspace_id, name) SELECT 'wf_' || n, ${ws()}, 'x' FROM ${rows(n)}`,
  },
  'POST /api/templates/{id}/instantiate': {
    noun: 'workflows',
    url: () => `/api/templates/${templateId}/instantiate`,
    body: () => undefined,
    fill: (n) => sql.fragment`
      INSERT INTO workflows (id, workspace_id, name) SELECT 'wf_' || n, ${ws()}, 'x' FROM ${rows(n)}`,
  },
  'POST /api/templates': {
    noun: 'templates',
    url: () => '/api/templates',
    body: () => ({ name: 'x', graph: oneStep }),
    fill: (n) => sql.fragment`
      INSERT INTO templates (id, workspace_id, name, description, graph, checks)
      SELECT 'tpl_' || n, ${ws()}, 'x', '', '{"nodes": [], "edges": []}', '[]' FROM ${rows(n)}`,
  },
  'POST /api/schedules': {
    noun: 'schedules',
    url: () => '/api/schedules',
    body: () => ({ workflow_id: workflowId, cron: '@yearly' }),
    fill: (n) => sql.fragment`
      INSERT INTO schedules (id, workspace_id, workflow_id, cron)
      SELECT 'sch_' || n, ${ws()}, ${workflowId}, '@yearly' FROM ${rows(n)}`,
  },
  'POST /api/workflows/{id}/triggers': {
    noun: 'triggers',
    url: () => `/api/workflows/${workflowId}/triggers`,
    body: () => ({ event: 'x.happened' }),
    fill: (n) => sql.fragment`
      INSERT INTO event_triggers (id, workspace_id, workflow_id, event, enabled)
      SELECT 'trg_' || n, ${ws()}, ${workflowId}, 'x.happened', false FROM ${rows(n)}`,
  },
  'POST /api/tools': {
    noun: 'tools',
    url: () => '/api/tools',
    body: () => ({ name: `t${(made += 1)}`, endpoint_url: 'https://tools.example.com/' }),
    fill: (n) => sql.fragment`
      INSERT INTO custom_tools (id, workspace_id, name, label, description, kind, endpoint_url, method, headers,
                                timeout_seconds, retry_count)
      SELECT 'tool_' || n, ${ws()}, 'full-' || n, '', '', 'http', 'https://a.example/', 'POST', '{}', 60, 1
      FROM ${rows(n)}`,
  },
  'PUT /api/secrets/{name}': {
    noun: 'secrets',
    url: () => `/api/secrets/S${(made += 1)}`,
    body: () => ({ value: 'a value of this test', allowed_hosts: ['api.example.com'] }),
    fill: (n) => sql.fragment`
      INSERT INTO secrets (workspace_id, name, sealed_value, allowed_hosts, description)
      SELECT ${ws()}, 'FULL_' || n, 'x', '{api.example.com}', '' FROM ${rows(n)}`,
  },
  'POST /api/connections': {
    noun: 'connections',
    url: () => '/api/connections',
    body: () => ({
      name: `C${(made += 1)}`,
      authorization_url: 'https://login.example.com/authorize',
      token_url: 'https://login.example.com/token',
      client_id: 'x',
      client_secret: 'a secret of this test',
      allowed_hosts: ['api.example.com'],
    }),
    fill: (n) => sql.fragment`
      INSERT INTO connections (id, workspace_id, name, grant_type, owner, authorization_url, token_url, client_id,
                               client_auth, scopes, authorization_params, allowed_hosts)
      SELECT 'con_' || n, ${ws()}, 'FULL_' || n, 'authorization_code', 'workspace', 'https://a', 'https://a', 'x', 'none',
             '{}', '{}', '{api.example.com}' FROM ${rows(n)}`,
  },
  'POST /api/budgets': {
    noun: 'budgets',
    url: () => '/api/budgets',
    body: () => ({ name: 'x', limit_usd: 1_000 }),
    fill: (n) => sql.fragment`
      INSERT INTO budgets (id, workspace_id, name, scope, "window", limit_micros, window_start)
      SELECT 'bud_' || n, ${ws()}, 'x', 'workspace', 'month', 1000000000, now() FROM ${rows(n)}`,
  },
  'POST /api/members/invite': {
    noun: 'members',
    url: () => '/api/members/invite',
    body: () => ({ name: 'x', email: `x${(made += 1)}@example.com`, role: 'viewer' }),
    fill: (n) => sql.fragment`
      INSERT INTO members (id, workspace_id, name, email, role, status)
      SELECT 'mem_' || n, ${ws()}, 'x', n || '@full.example.com', 'viewer', 'active' FROM ${rows(n)}`,
  },
  'POST /api/keys': {
    noun: 'apiKeys',
    url: () => '/api/keys',
    body: () => ({ name: 'x', role: 'viewer' }),
    fill: (n) => sql.fragment`
      INSERT INTO api_keys (id, workspace_id, name, prefix, secret_hash, role)
      SELECT 'key_' || n, ${ws()}, 'x', 'ops_', sha256(n::text::bytea), 'viewer' FROM ${rows(n)}`,
  },
  'POST /api/data/keys': {
    noun: 'dataKeys',
    url: () => '/api/data/keys',
    body: () => ({ name: 'x', mode: 'live', scopes: ['usage:read'] }),
    fill: (n) => sql.fragment`
      INSERT INTO data_keys (id, workspace_id, name, mode, prefix, hash, scopes)
      SELECT 'dkey_' || n, ${ws()}, 'x', 'live', 'svc_', sha256(n::text::bytea), '{usage:read}' FROM ${rows(n)}`,
  },
  'POST /api/data/feeds': {
    noun: 'feeds',
    url: () => '/api/data/feeds',
    body: () => ({ name: 'x' }),
    fill: (n) => sql.fragment`
      INSERT INTO data_feeds (id, workspace_id, is_demo, name)
      SELECT 'feed_' || n, ${ws()}, false, 'x' FROM ${rows(n)}`,
  },
  'POST /api/data/sources': {
    noun: 'sources',
    url: () => '/api/data/sources',
    body: () => ({ name: `s${(made += 1)}`, type: 'portal' }),
    fill: (n) => sql.fragment`
      INSERT INTO data_sources (id, workspace_id, is_demo, name, type)
      SELECT 'src_' || n, ${ws()}, false, 'full-' || n, 'portal' FROM ${rows(n)}`,
  },
  'POST /api/workspace/policies/backtest': {
    noun: 'jobs',
    url: () => '/api/workspace/policies/backtest',
    body: () => ({ policies: {}, since: '2026-01-01' }),
    fill: (n) => sql.fragment`
      INSERT INTO background_jobs (id, workspace_id, kind, request)
      SELECT 'job_' || n, ${ws()}, 'backtest', '{}' FROM ${rows(n)}`,
    status: 202,
  },
  'POST /api/workflows/{id}/experiments': {
    noun: 'jobs',
    url: () => `/api/workflows/${experimented.workflowId}/experiments`,
    body: () => ({ candidate: { version: 1 }, runs: [experimented.runId] }),
    fill: (n) => sql.fragment`
      INSERT INTO background_jobs (id, workspace_id, kind, request)
      SELECT 'job_' || n, ${ws()}, 'experiment', '{}' FROM ${rows(n)}`,
    status: 202,
  },
  'POST /api/workflows/{id}/inbound-events/replay': {
    noun: 'jobs',
    url: () => `/api/workflows/${workflowId}/inbound-events/replay`,
    body: () => ({ since: '2026-01-01' }),
    fill: (n) => sql.fragment`
      INSERT INTO background_jobs (id, workspace_id, kind, request)
      SELECT 'job_' || n, ${ws()}, 'event_replay', '{}' FROM ${rows(n)}`,
    status: 202,
  },
  'POST /api/webhooks': endpointRoom('/api/webhooks', ['run.failed']),
};

/** Routes that respond with 201 or 202 and have another limit. */
const boundedOtherwise: Record<string, string> = {
  'POST /api/mcp': 'those of the tools; a message by itself leaves nothing',
  'POST /api/workspace/alerts/test': 'the rate of requests: nothing of it stays',
  'POST /api/workflows/{id}/runs': 'the monthly quota',
  'POST /api/runs/{id}/rerun': 'the monthly quota',
  'POST /api/runs/{id}/fork': 'the monthly quota',
  'POST /api/inbound-events/{id}/replay': 'the monthly quota',
  'POST /api/workflows/{id}/nodes/{node_id}/test':
    'the rate of requests, and the budgets for what it may cost: a rehearsal counts against no quota',
  'POST /api/schedules/{id}/trigger': 'the monthly quota',
  'PUT /api/workflows/{id}/draft': 'one per workflow',
  'POST /api/hooks/{workflow_id}/{secret}': 'the monthly quota',
  'POST /api/authorizations': '100 per member; see test/api/authorizations',
  'POST /api/auth/signup': 'a bound of its own, over all and per network',
  'POST /api/events':
    'bounds of its own, on names, on the events of a name, and on those that were not compared with the waits yet',
  'POST /api/webhooks/{id}/ping': 'the deliveries that may be pending at an endpoint',
};

const run = (statement: ReturnType<typeof sql.fragment>) =>
  api.db.query(sql.type(z.object({}))`${statement}`);

test('every route that creates something has a limit', () => {
  const creates = Object.entries<any>((api.app.swagger() as any).paths).flatMap(([path, methods]) =>
    Object.entries<any>(methods)
      .filter(([, { responses }]) => '201' in responses || '202' in responses)
      .map(([method]) => `${method.toUpperCase()} ${path}`),
  );
  expect(creates.sort()).toEqual([...Object.keys(makers), ...Object.keys(boundedOtherwise)].sort());
  const nouns = new Set(Object.values(makers).map(({ noun }) => noun));
  expect([...nouns].sort()).toEqual(Object.keys(workspaceLimits).sort());
});

describe('a workspace at its limit', () => {
  test.each(Object.entries(makers))('is refused by %s, with a remedy', async (route, maker) => {
    const { atMost, called, remedy } = workspaceLimits[maker.noun];
    const method = route.split(' ', 1)[0] as 'POST' | 'PUT';
    const make = () => api.call(method, maker.url(), maker.body());
    await expect(
      api.db.transaction(async (tx) => {
        await tx.query(sql.type(z.object({}))`${maker.fill(atMost)}`);
        await requireRoom(tx, ws(), maker.noun);
      }),
    ).rejects.toMatchObject({ code: 'conflict' });
    const { status } = await make();
    expect([route, status]).toEqual([route, maker.status ?? 201]);
    // The limit counts all of them, including those that other routes created.
    const left = atMost - (await count(maker.noun));
    await run(maker.fill(left));
    const refused = await make();
    expect([refused.status, refused.body.detail]).toEqual([
      409,
      `A workspace has at most ${atMost} ${called}; ${remedy}`,
    ]);
    await run(emptied[maker.noun]());
  });
});

const count = (noun: LimitedNoun) =>
  api.db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM ${sql.identifier([tables[noun]])} t
    WHERE workspace_id = ${ws()} AND coalesce(to_jsonb(t) ->> 'is_demo', 'false') = 'false'`);
const tables: Record<LimitedNoun, string> = {
  workflows: 'workflows',
  templates: 'templates',
  schedules: 'schedules',
  triggers: 'event_triggers',
  tools: 'custom_tools',
  secrets: 'secrets',
  connections: 'connections',
  budgets: 'budgets',
  members: 'members',
  apiKeys: 'api_keys',
  dataKeys: 'data_keys',
  feeds: 'data_feeds',
  sources: 'data_sources',
  endpoints: 'data_endpoints',
  jobs: 'background_jobs',
};
const empty = (table: string) => () =>
  sql.fragment`DELETE FROM ${sql.identifier([table])} WHERE ${sql.identifier([table === 'secrets' ? 'name' : 'id'])} ~ '_[0-9]{1,5}$'`;
const emptied = Object.fromEntries(
  Object.entries(tables).map(([noun, table]) => [noun, empty(table)]),
) as Record<LimitedNoun, () => ReturnType<typeof sql.fragment>>;

soakTest('one of many concurrent requests gets the last place', async () => {
  const other = await api.another();
  for (let round = 0; round < raceRounds(10); round += 1) {
    const { atMost } = workspaceLimits.budgets;
    await run(makers['POST /api/budgets']!.fill(atMost - 1 - (await count('budgets'))));
    const body = { name: 'last', limit_usd: 1_000 };
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        (index % 2 === 0 ? api : other).call('POST', '/api/budgets', body),
      ),
    );
    expect(answers.map(({ status }) => status).sort()).toEqual([201, ...Array(11).fill(409)]);
    expect(await count('budgets')).toBe(atMost);
    await run(sql.fragment`DELETE FROM budget_holds`);
    await run(sql.fragment`DELETE FROM budgets`);
  }
  await other.app.close();
});

test('revoked keys and pending members do not count', async () => {
  await run(
    makers['POST /api/keys']!.fill(workspaceLimits.apiKeys.atMost - (await count('apiKeys'))),
  );
  const make = () => api.call('POST', '/api/keys', { name: 'x', role: 'viewer' });
  expect((await make()).status).toBe(409);
  expect((await api.call('DELETE', '/api/keys/key_1')).status).toBe(204);
  expect((await make()).status).toBe(201);
  await run(sql.fragment`
    INSERT INTO members (id, workspace_id, name, email, role, status)
    SELECT 'mem_' || n, ${ws()}, 'x', n || '@pending.example.com', 'viewer', 'pending'
    FROM ${rows(workspaceLimits.members.atMost)}`);
  const invited = { name: 'x', email: 'room@example.com', role: 'viewer' };
  expect((await api.call('POST', '/api/members/invite', invited)).status).toBe(201);
});
