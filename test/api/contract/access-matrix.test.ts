import { createHash } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { capabilities, type Role } from '#shared/people/capabilities.ts';
import { sql } from '#shared/db/pool.ts';
import { newId } from '#shared/crypto/ids.ts';
import { createSessionTokens } from '#shared/platform/secrets/session-tokens.ts';
import { expectCommitted } from '#test/api/committed-file.ts';
import { addEndpoint, addEntities } from '#test/api/data/records.ts';
import { oneStep, startTestApi, type TestApi } from '#test/api/test-api.ts';

// Calls every route with every kind of credential. The result is a committed table: a new route, or a change of who has
// access, is a difference that needs a review.

const SECRET_KEY = 'a secret of the matrix';
const tokens = createSessionTokens(SECRET_KEY);
const names = Object.keys(capabilities);
const row = z.object({});

let required: TestApi;
let open: TestApi;
beforeAll(async () => {
  const ENCRYPTION_KEY = 'a key of the matrix, long enough';
  required = await startTestApi({ AUTH_MODE: 'required', SECRET_KEY, ENCRYPTION_KEY });
  open = await startTestApi();
});
afterAll(async () => {
  await required.stop();
  await open.stop();
});

type Headers = Record<string, string>;

const addMember = async (
  role: Role,
  overrides: Record<string, boolean> = {},
  workspaceId = required.workspaceId,
): Promise<{ id: string; headers: Headers }> => {
  const id = newId('member');
  await required.db.query(sql.type(row)`
    INSERT INTO members (id, workspace_id, name, email, role, status, overrides)
    VALUES (${id}, ${workspaceId}, ${role}, ${`${id}@example.com`}, ${role}, 'active',
            ${JSON.stringify(overrides)}::jsonb)
  `);
  const { token } = await tokens.issue({ memberId: id, epoch: 1 });
  return { id, headers: { authorization: `Bearer ${token}` } };
};
const addKey = async (key: { role: Role; memberId?: string; revoked?: boolean }) => {
  const id = newId('apiKey');
  await required.db.query(sql.type(row)`
    INSERT INTO api_keys (id, workspace_id, name, prefix, secret_hash, role, member_id, revoked_at)
    VALUES (${id}, ${required.workspaceId}, 'k', 'ops_', ${sql.binary(
      createHash('sha256').update(`ops_${id}`).digest(),
    )}, ${key.role}, ${key.memberId ?? null}, ${key.revoked === true ? '2026-01-01' : null}::timestamptz)
  `);
  return { 'x-api-key': `ops_${id}` };
};

interface Route {
  method: string;
  path: string;
  /** The example of the OpenAPI document. */
  body: unknown;
}

const routes = (): Route[] =>
  Object.entries<any>((required.app.swagger() as any).paths)
    .flatMap(([path, methods]) =>
      Object.entries<any>(methods).map(([method, operation]) => ({
        method: method.toUpperCase(),
        path,
        body: operation.requestBody?.content?.['application/json']?.example,
      })),
    )
    .sort((a, b) => (`${a.path} ${a.method}` < `${b.path} ${b.method}` ? -1 : 1));

/** A resource for each path prefix, in the default workspace. */
async function makeNouns(headers: Headers): Promise<Record<string, string>> {
  const create = async (url: string, body: unknown) =>
    (await required.call('POST', url, body, headers)).body.id as string;
  const workflow = await create('/api/workflows', { name: 'x', graph: oneStep });
  const receive = async (id: string) => {
    const webhook = await required.call('POST', `/api/workflows/${id}/webhook`, {}, headers);
    await required.call('POST', new URL(webhook.body.url).pathname, { ticket: 'x' });
    const url = `/api/workflows/${id}/inbound-events`;
    return (await required.call('GET', url, undefined, headers)).body.events[0].id as string;
  };
  const feed = await create('/api/data/feeds', { name: 'x' });
  const [entity = ''] = await addEntities(required, { ...required, id: feed, isDemo: false }, [{}]);
  const run = await create(`/api/workflows/${workflow}/runs`, { ticket: 'x' });
  const ended = await create(`/api/workflows/${workflow}/runs`, { ticket: 'x' });
  await create(`/api/runs/${ended}/cancel`, {});
  return {
    workflows: workflow,
    runs: run,
    experiments: await create(`/api/workflows/${workflow}/experiments`, {
      candidate: { version: 1 },
      runs: [ended],
    }),
    events: await create('/api/events', { name: 'x.happened' }),
    'event-replays': await create(`/api/workflows/${workflow}/inbound-events/replay`, {
      since: '2026-01-01',
    }),
    'inbound-events': await receive(workflow),
    budgets: await create('/api/budgets', { name: 'x', limit_usd: 1_000 }),
    members: (await addMember('viewer')).id,
    tools: await create('/api/tools', { name: 'x', endpoint_url: 'http://127.0.0.1:9/' }),
    connections: await create('/api/connections', {
      ...{ name: 'X', preset: 'github', client_id: 'x', client_secret: 'x' },
    }),
    schedules: await create('/api/schedules', { workflow_id: workflow, cron: '@yearly' }),
    triggers: await create(`/api/workflows/${workflow}/triggers`, { event: 'x.happened' }),
    keys: await create('/api/keys', { name: 'x', role: 'viewer' }),
    authorizations: newId('authorization'),
    'data/keys': await create('/api/data/keys', {
      name: 'x',
      mode: 'live',
      scopes: ['usage:read'],
    }),
    'data/feeds': feed,
    'data/entities': entity,
    webhooks: await addEndpoint(required),
    'data/sources': await create('/api/data/sources', { name: 'x', type: 'x' }),
    'workspace/policies/backtest': await create('/api/workspace/policies/backtest', {
      policies: {},
      since: '2026-01-01',
    }),
    templates: await create('/api/templates', { name: 'x', graph: oneStep }),
  };
}

/** `workflows` of `/api/workflows/{id}`, `data/keys` of `/api/data/keys/{id}`. */
const nounOf = (path: string) =>
  /^\/api\/((?:data\/)?[\w-]+(?:\/policies\/backtest)?)/.exec(path)?.[1] ?? '';
const at = (path: string, id: string) =>
  path
    .replace('{id}', id)
    .replace('{version}', '1')
    .replace('{delivery_id}', 'dlv_x')
    .replace(/\/diff$/, '/diff?from=1&to=1');

/**
 * `in` when the caller passes authentication and authorization. The request changes nothing: its ids are unknown, and
 * without an id its body is invalid.
 */
async function ask(api: TestApi, { method, path }: Route, headers: Headers): Promise<string> {
  const body = method === 'GET' || path.includes('{id}') ? undefined : 'no body';
  const { status } = await api.call(method, at(path, 'x_unknown'), body, headers);
  expect(status).not.toBe(500);
  return status === 401 || status === 403 ? String(status) : 'in';
}

/** The same from another workspace, for existing resources: the response must be as if they did not exist. */
async function askForeign(
  { method, path, body }: Route,
  headers: Headers,
  nouns: Record<string, string>,
): Promise<string> {
  if (!path.includes('{id}')) return ask(required, { method, path, body }, headers);
  const id = nouns[nounOf(path)];
  if (id === undefined) throw new Error(`No ${nounOf(path)} to ask for`);
  const { status, text } = await required.call(method, at(path, id), body, headers);
  expect(text).not.toContain(id);
  return String(status);
}

test('the access matrix is the committed one', async () => {
  const admin = await addMember('admin');
  const nouns = await makeNouns(admin.headers);
  const workspaceId = newId('workspace');
  await required.db.query(
    sql.type(row)`INSERT INTO workspaces (id, name) VALUES (${workspaceId}, 'O')`,
  );
  const foreign = await addMember('admin', {}, workspaceId);
  const viewer = await addMember('viewer');
  const editor = await addMember('editor');
  const granted: Record<string, Headers> = {};
  const denied: Record<string, Headers> = {};
  for (const name of names) {
    granted[name] = (await addMember('viewer', { view: false, [name]: true })).headers;
    denied[name] = (await addMember('admin', { [name]: false })).headers;
  }
  const removed = await addMember('admin');
  const columns: Record<string, Headers> = {
    viewer: viewer.headers,
    editor: editor.headers,
    admin: admin.headers,
    'viewer key': await addKey({ role: 'viewer' }),
    'editor key': await addKey({ role: 'editor' }),
    'admin key': await addKey({ role: 'admin' }),
    "editor's key": await addKey({ role: 'viewer', memberId: editor.id }),
    'revoked key': await addKey({ role: 'admin', revoked: true }),
    'removed member': removed.headers,
    "removed member's key": await addKey({ role: 'admin', memberId: removed.id }),
  };
  await required.db.query(sql.type(row)`DELETE FROM members WHERE id = ${removed.id}`);

  const table = [
    [
      'route',
      'nobody',
      'nobody, open',
      ...Object.keys(columns),
      'admin elsewhere',
      'needs',
      'is shut out without',
    ],
  ];
  for (const route of routes()) {
    const cells = [
      `${route.method} ${route.path}`,
      await ask(required, route, {}),
      await ask(open, route, {}),
    ];
    for (const headers of Object.values(columns)) cells.push(await ask(required, route, headers));
    cells.push(await askForeign(route, foreign.headers, nouns));
    const alone = [];
    const without = [];
    for (const name of names) {
      if ((await ask(required, route, granted[name]!)) === 'in') alone.push(name);
      if ((await ask(required, route, denied[name]!)) !== 'in') without.push(name);
    }
    // If no capability is enough alone, the route needs all those in the next column.
    cells.push(alone.length === names.length ? 'nothing' : alone.join(' ') || 'all of these');
    cells.push(without.join(' ') || 'nothing');
    table.push(cells);
  }
  expectCommitted('test/api/contract/access-matrix.md', asMarkdown(table));
}, 120_000);

function asMarkdown([head = [], ...rows]: string[][]): string {
  const widths = head.map((_, column) =>
    Math.max(...[head, ...rows].map((cells) => cells[column]?.length ?? 0)),
  );
  const line = (cells: string[]) =>
    `| ${cells.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join(' | ')} |`;
  return [line(head), line(widths.map((width) => '-'.repeat(width))), ...rows.map(line), ''].join(
    '\n',
  );
}
