import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import pg from 'pg';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { capabilities, type Capability } from '#shared/people/capabilities.ts';
import { type Engine, startEngine } from '#test/support/engine.ts';
import { capabilitiesOfRoutes } from '#test/support/access-matrix.ts';
import { addMember } from '#test/support/people.ts';
import { expectCommitted } from '#test/api/committed-file.ts';
import { type Mutation, type MutationContext, mutationEnv, mutations } from './mutations.ts';
import { type Answer, callerOf } from '#test/api/test-api.ts';

// The capabilities that a request needs follow from its effects. The test calls every route that changes something and
// reads from the database what changed. Each effect needs a capability; without it, the same request must be refused.

let engine: Engine;
let app: App;
let call: ReturnType<typeof callerOf>;
let context: MutationContext;
let database: pg.Client;
const without = {} as Record<Capability, Record<string, string>>;

beforeAll(async () => {
  engine = await startEngine({ env: mutationEnv });
  app = buildApp(engine.deps);
  await app.ready();
  call = callerOf(app);
  database = new pg.Client({ connectionString: engine.databaseUrl });
  await database.connect();
  const { secret } = await ok(
    call('POST', '/api/data/keys', {
      name: 'x',
      mode: 'live',
      scopes: ['webhooks:write', 'webhooks:read'],
    }),
  );
  context = {
    workspaceId: engine.actor.workspaceId,
    db: engine.db,
    call: (method, url, payload) =>
      ok(call(method, url, payload, url.startsWith('/v1/') ? { 'x-api-key': secret } : {})),
    until: async (runId, status) => {
      await engine.until(runId, [status]);
    },
  };
  for (const name of Object.keys(capabilities) as Capability[]) {
    const { headers } = await addMember({ call }, { role: 'admin', overrides: { [name]: false } });
    without[name] = headers;
  }
}, 60_000);
afterAll(async () => {
  await database.end();
  await app.close();
  await engine.close();
});

async function ok(answer: Promise<Answer>): Promise<any> {
  const { status, text, body } = await answer;
  if (status >= 300) throw new Error(`answered ${status}: ${text}`);
  return body;
}

/** A custom tool and the workflow whose current graph calls it. */
const calledBy = `
  concat_ws(' ', w.id, t.name, t.kind, t.endpoint_url, t.method, t.headers::text, t.mcp_tool, t.input_schema::text,
            t.timeout_seconds::text, t.retry_count::text)
  FROM custom_tools t JOIN workflows w ON w.workspace_id = t.workspace_id
  JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = w.version
    AND strpos(v.graph::text, '"custom:' || t.name || '"') > 0`;

/**
 * Effects that a request can have: the rows that show them, and the capability that each needs. `added`: only new rows
 * count, since removing them is another effect.
 */
const effects = {
  'starts a run': { needs: 'run_workflows', rows: 'SELECT id FROM runs', added: true },
  'starts runs automatically': {
    needs: 'run_workflows',
    rows: `SELECT concat_ws(' ', s.id, cron, timezone, input::text, overlap, v.graph::text) FROM schedules s
             JOIN workflows w ON w.id = s.workflow_id
             JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = w.version
           WHERE enabled
           UNION ALL
           SELECT concat_ws(' ', t.id, event, match, t.input::text, v.graph::text) FROM event_triggers t
             JOIN workflows w ON w.id = t.workflow_id
             JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = w.version
           WHERE enabled
           UNION ALL
           SELECT concat_ws(' ', h.workflow_id, secret, v.graph::text) FROM workflow_webhooks h
             JOIN workflows w ON w.id = h.workflow_id
             JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = w.version
           WHERE secret IS NOT NULL
           UNION ALL
           SELECT ${calledBy} WHERE EXISTS (SELECT FROM schedules WHERE workflow_id = w.id AND enabled)
              OR EXISTS (SELECT FROM event_triggers WHERE workflow_id = w.id AND enabled)
              OR EXISTS (SELECT FROM workflow_webhooks WHERE workflow_id = w.id AND secret IS NOT NULL)`,
    added: true,
  },
  'decides a gate': {
    needs: 'approve_gates',
    rows: `SELECT id FROM audit_log WHERE action IN ('approve', 'reject')`,
  },
  'ends or resumes a run': {
    needs: 'cancel_resume',
    rows: `SELECT id FROM audit_log WHERE action IN ('cancel', 'resume')`,
  },
  'changes what is published': {
    needs: 'publish_workflows',
    rows: `SELECT concat_ws(' ', id, version::text) FROM workflows WHERE status = 'published'
           UNION ALL
           SELECT ${calledBy} WHERE w.status = 'published'
           UNION ALL
           SELECT concat_ws(' ', p.id, w.id, w.version::text) FROM workflows w
           JOIN workflow_versions v ON strpos(v.graph::text, '"' || w.id || '"') > 0
           JOIN workflows p ON p.id = v.workflow_id AND p.version = v.version AND p.status = 'published'`,
    added: true,
  },
  'deletes a workflow': {
    needs: 'delete_workflows',
    rows: `SELECT target_id FROM audit_log WHERE target_type = 'workflow' AND action = 'delete'`,
  },
  'changes workflows, schedules, webhooks, tools or templates': {
    needs: 'create_edit_workflows',
    rows: `SELECT concat_ws(' ', 'w', id, name, description, version::text, checks::text, run_cap_micros::text)
             FROM workflows
           UNION ALL SELECT concat_ws(' ', 's', id, name, cron, timezone, input::text, overlap, enabled::text)
             FROM schedules
           UNION ALL SELECT concat_ws(' ', 'e', to_jsonb(e)::text) FROM event_triggers e
           UNION ALL SELECT concat_ws(' ', 'l', to_jsonb(l)::text) FROM workflow_limits l
           UNION ALL SELECT concat_ws(' ', 'h', to_jsonb(h)::text) FROM workflow_webhooks h
           UNION ALL SELECT concat_ws(' ', 't', id, name, label, endpoint_url, method) FROM custom_tools
           UNION ALL SELECT concat_ws(' ', 'p', id, name, graph::text) FROM templates
           UNION ALL SELECT concat_ws(' ', 'd', to_jsonb(d)::text) FROM workflow_drafts d`,
  },
  'changes members': {
    needs: 'manage_members',
    rows: `SELECT concat_ws(' ', id, name, email, role, status, overrides::text, is_owner::text, password_hash)
           FROM members`,
  },
  'creates or revokes keys': {
    needs: 'manage_api_keys',
    rows: `SELECT concat_ws(' ', id, name, revoked_at::text) FROM api_keys
           UNION ALL SELECT concat_ws(' ', id, name, revoked_at::text) FROM data_keys`,
  },
  'changes the workspace, its money, rules or data': {
    needs: 'manage_workspace',
    rows: `SELECT id FROM audit_log
           WHERE target_type IN ('workspace', 'budget', 'feed', 'source', 'data_webhook', 'connection') OR action = 'budget_override'`,
  },
} as const satisfies Record<string, { needs: Capability; rows: string; added?: boolean }>;
type Effect = keyof typeof effects;
const effectNames = Object.keys(effects) as Effect[];

type Snapshot = Record<string, Set<string>>;

const look = async (): Promise<Snapshot> => {
  const snapshot: Snapshot = {};
  for (const name of effectNames) {
    const { rows } = await database.query({ text: effects[name].rows, rowMode: 'array' });
    snapshot[name] = new Set(rows.map(([text]) => text));
  }
  return snapshot;
};
const effectsBetween = (before: Snapshot, after: Snapshot): Effect[] =>
  effectNames.filter((name) => {
    const [was, is] = [before[name]!, after[name]!];
    const both = !('added' in effects[name]);
    return [...is].some((row) => !was.has(row)) || (both && [...was].some((row) => !is.has(row)));
  });

/** Effects that need no separate capability, and why. */
const included: Partial<Record<string, Effect[]>> = {
  // The route deletes the workflow as a whole, and fewer people have its capability.
  'DELETE /api/workflows/{id}': ['changes workflows, schedules, webhooks, tools or templates'],
  // Someone who can edit has saved the content; publishing brings it into use.
  'POST /api/workflows/{id}/publish: from a draft': [
    'changes workflows, schedules, webhooks, tools or templates',
  ],
  'POST /api/workflows/{id}/publish: from a draft, with a webhook': [
    'changes workflows, schedules, webhooks, tools or templates',
  ],
};

/** Requests whose effects differ from those of their route's example. */
const variants: Record<
  string,
  (context: MutationContext) => Promise<Pick<Mutation, 'url' | 'body' | 'headers'>>
> = {
  'POST /api/workflows/{id}/publish: from a draft': async ({ call: make }) => aDraft(make),
  'POST /api/workflows/{id}/publish: from a draft, with a webhook': async ({ call: make }) => {
    const request = await aDraft(make);
    await make('POST', request.url.replace('publish', 'webhook'));
    return request;
  },
  'POST /api/workflows/{id}/inbound-events/replay: all events': async ({ call: make }) => {
    const { id } = await make('POST', '/api/workflows', { name: 'x', graph: gate });
    const { url } = await make('POST', `/api/workflows/${id}/webhook`);
    await make('POST', new URL(url as string).pathname, {});
    const body = { since: '2026-01-01', outcome: 'all' };
    return { url: `/api/workflows/${id}/inbound-events/replay`, body };
  },
  'PUT /api/workflows/{id}: the graph, once published': async ({ call: make }) => {
    const { id } = await make('POST', '/api/workflows', { name: 'x' });
    await make('POST', `/api/workflows/${id}/publish`);
    return { url: `/api/workflows/${id}`, body: { graph: gate } };
  },
  'PUT /api/workflows/{id}: the same graph in another order, once published': async (each) => {
    const { nodes, edges } = gate;
    const { id } = await each.call('POST', '/api/workflows', { name: 'x', graph: gate });
    await each.call('POST', `/api/workflows/${id}/publish`);
    await each.call('POST', `/api/workflows/${id}/webhook`);
    return { url: `/api/workflows/${id}`, body: { name: 'y', graph: { edges, nodes } } };
  },
  'PUT /api/workflows/{id}: the graph, with a disabled schedule': async ({ call: make }) => {
    const { workflow_id: id } = await make('POST', '/api/schedules', await aSchedule(make, false));
    return { url: `/api/workflows/${id}`, body: { graph: gate } };
  },
  'PUT /api/workflows/{id}: the graph, with a webhook': async ({ call: make }) => {
    const { id } = await make('POST', '/api/workflows', { name: 'x' });
    await make('POST', `/api/workflows/${id}/webhook`);
    return { url: `/api/workflows/${id}`, body: { graph: gate } };
  },
  'PUT /api/workflows/{id}: the graph, with a schedule': async ({ call: make }) => {
    const { workflow_id: id } = await make('POST', '/api/schedules', await aSchedule(make, true));
    return { url: `/api/workflows/${id}`, body: { graph: gate } };
  },
  'POST /api/workflows/{id}/triggers: not enabled': async ({ call: make }) => {
    const { id } = await make('POST', '/api/workflows', { name: 'x' });
    return { url: `/api/workflows/${id}/triggers`, body: { event: 'a.b', enabled: false } };
  },
  'PUT /api/workflows/{id}: the graph, with an event trigger': async ({ call: make }) => {
    const { id } = await make('POST', '/api/workflows', { name: 'x' });
    await make('POST', `/api/workflows/${id}/triggers`, { event: 'a.b' });
    return { url: `/api/workflows/${id}`, body: { graph: gate } };
  },
  ...Object.fromEntries(
    Object.entries<object>({
      enabled: { enabled: true },
      'another event': { event: 'c.d' },
      'another match': { match: 'event.data.n == 1' },
      'another input': { input: { ticket: 'x' } },
      'disabled with another event': { enabled: false, event: 'c.d' },
    }).map(([what, body]) => [
      `PUT /api/triggers/{id}: ${what}`,
      async ({ call: make }: MutationContext) => {
        const { id: workflowId } = await make('POST', '/api/workflows', { name: 'x' });
        const before = { event: 'a.b', enabled: what !== 'enabled' };
        const { id } = await make('POST', `/api/workflows/${workflowId}/triggers`, before);
        return { url: `/api/triggers/${id}`, body };
      },
    ]),
  ),
  'POST /api/schedules: not enabled': async ({ call: make }) => ({
    url: '/api/schedules',
    body: await aSchedule(make, false),
  }),
  'PUT /api/schedules/{id}: enabled': async ({ call: make }) => {
    const { id } = await make('POST', '/api/schedules', await aSchedule(make, false));
    return { url: `/api/schedules/${id}`, body: { enabled: true } };
  },
  ...Object.fromEntries(
    Object.entries<object>({
      'other times': { cron: '@hourly' },
      'another zone': { timezone: 'Europe/Berlin' },
      'another input': { input: { ticket: 'x' } },
      'another overlap': { overlap: 'allow' },
      'another name': { name: 'Yearly', cron: '@yearly' },
      'disabled with other times': { enabled: false, cron: '@daily' },
    }).map(([what, body]) => [
      `PUT /api/schedules/{id}: ${what}`,
      async ({ call: make }: MutationContext) => {
        const { id } = await make('POST', '/api/schedules', await aSchedule(make, true));
        return { url: `/api/schedules/${id}`, body };
      },
    ]),
  ),
  'POST /api/workflows/{id}/webhook: again': async ({ call: make }) => {
    const { id } = await make('POST', '/api/workflows', { name: 'x' });
    await make('POST', `/api/workflows/${id}/webhook`);
    return { url: `/api/workflows/${id}/webhook` };
  },
  'PUT /api/tools/{id}: called by a published graph': async ({ call: make }) => {
    const { tool, workflow } = await aCalledTool(make);
    await make('POST', `/api/workflows/${workflow}/publish`);
    return { url: `/api/tools/${tool}`, body: { endpoint_url: 'http://127.0.0.1:9/other' } };
  },
  'PUT /api/tools/{id}: called by a graph with a schedule': async ({ call: make }) => {
    const { tool, workflow } = await aCalledTool(make);
    await make('POST', '/api/schedules', { workflow_id: workflow, cron: '@yearly' });
    return { url: `/api/tools/${tool}`, body: { timeout_seconds: 5 } };
  },
  'PUT /api/tools/{id}: the label, called by a graph with a schedule': async ({ call: make }) => {
    const { tool, workflow } = await aCalledTool(make);
    await make('POST', '/api/schedules', { workflow_id: workflow, cron: '@yearly' });
    return { url: `/api/tools/${tool}`, body: { label: 'New' } };
  },
  'POST /api/tools: called by a graph with a webhook already': async ({ call: make }) => {
    const { tool, workflow, body } = await aCalledTool(make);
    await make('POST', `/api/workflows/${workflow}/webhook`);
    await make('DELETE', `/api/tools/${tool}`);
    return { url: '/api/tools', body };
  },
  'PUT /api/workflows/{id}: called by a published graph': async ({ call: make }) => {
    const { id } = await make('POST', '/api/workflows', { name: 'x' });
    const graph = { nodes: [{ id: 'a', kind: 'workflow', workflow: id }], edges: [] };
    const { id: parent } = await make('POST', '/api/workflows', { name: 'x', graph });
    await make('POST', `/api/workflows/${parent}/publish`);
    return { url: `/api/workflows/${id}`, body: { graph: gate } };
  },
  'PUT /api/tools/{id}: offered by an agent of a published graph': async ({ call: make }) => {
    const { tool, workflow } = await aCalledTool(make, offering);
    await make('POST', `/api/workflows/${workflow}/publish`);
    return { url: `/api/tools/${tool}`, body: { input_schema: { type: 'object', title: 'x' } } };
  },
  'POST /api/data/keys: that may register endpoints': async () => ({
    url: '/api/data/keys',
    body: { name: 'x', mode: 'live', scopes: ['webhooks:write'] },
  }),
};
/** The publication of a new workflow from its draft. */
const aDraft = async (make: MutationContext['call']) => {
  const { id } = await make('POST', '/api/workflows', { name: 'x' });
  const { etag } = await make('PUT', `/api/workflows/${id}/draft`, { graph: gate });
  return {
    url: `/api/workflows/${id}/publish`,
    body: { from_draft: true },
    headers: { 'if-match': `"${etag}"` },
  };
};
const gate = { nodes: [{ id: 'gate', kind: 'human_gate', prompt: 'Go on?' }], edges: [] };
let calledTools = 0;
const aToolNode = (tool_name: string) => ({ id: 'a', kind: 'tool', tool_name });
const offering = (name: string) => ({ id: 'a', kind: 'agent', tools: [name] });
/** Creates a tool and a workflow whose graph calls it. */
const aCalledTool = async (
  make: MutationContext['call'],
  nodeOf: (name: string) => object = aToolNode,
) => {
  calledTools += 1;
  const body = {
    name: `called-${calledTools}`,
    endpoint_url: 'http://127.0.0.1:9/',
    input_schema: { type: 'object' },
  };
  const { id: tool } = await make('POST', '/api/tools', body);
  const node = nodeOf(`custom:${body.name}`);
  const graph = { nodes: [node], edges: [] };
  const { id: workflow } = await make('POST', '/api/workflows', { name: 'x', graph });
  return { tool, workflow, body };
};
const aSchedule = async (make: MutationContext['call'], enabled: boolean) => ({
  workflow_id: (await make('POST', '/api/workflows', { name: 'x' })).id as string,
  cron: '@yearly',
  enabled,
});

// Keys call the data API, a secret URL authorizes hooks, the token of an email authorizes a decision as its member, and `auth`
// routes concern the caller's own account.
const hasCapabilities = (route: string) =>
  !/ (\/v1\/|\/api\/hooks\/|\/api\/auth\/|\/api\/decide$)/.test(route);

const send = async (
  [method = '']: string[],
  request: Pick<Mutation, 'url' | 'body' | 'headers'>,
  headers = {},
) => {
  const answer = await call(method, request.url, request.body, {
    ...request.headers,
    ...headers,
    ...(request.url === '/api/mcp' ? { accept: 'application/json, text/event-stream' } : {}),
  });
  // The runs that an experiment or a replay starts later are an effect of the request that started it.
  await jobsStarted();
  return answer;
};
/** Waits until every experiment and replay has started all its runs. Their end can be hours away. */
const jobsStarted = async (): Promise<void> => {
  for (;;) {
    const { rowCount } = await database.query(`
      SELECT FROM background_jobs WHERE status = 'running' AND (kind = 'event_replay' OR kind = 'experiment'
        AND (total IS NULL OR total > (SELECT count(*) FROM runs WHERE experiment_id = background_jobs.id)))`);
    if (rowCount === 0) return;
    await sleep(50);
  }
};

const people = new Map<string, Promise<Record<string, string>>>();
/** A member who can read, and has these capabilities. */
const withOnly = (names: Capability[]): Promise<Record<string, string>> => {
  const overrides = Object.fromEntries(['view', ...names].toSorted().map((name) => [name, true]));
  const key = JSON.stringify(overrides);
  const person =
    people.get(key) ??
    addMember({ call }, { role: 'viewer', overrides }).then(({ headers }) => ({ ...headers }));
  people.set(key, person);
  return person;
};

test('every effect of every route is refused without the required capability', async () => {
  const table = [['effect', 'needs', 'routes']];
  const tooMuch: string[] = [];
  const found = Object.fromEntries(effectNames.map((name): [Effect, string[]] => [name, []]));
  for (const [route, prepare] of Object.entries({ ...mutations, ...variants }).sort()) {
    if (!hasCapabilities(route)) continue;
    const words = route.split(' ');
    const first = await prepare(context);
    const before = await look();
    await ok(send(words, first));
    const seen = effectsBetween(before, await look()).filter(
      (name) => included[route]?.includes(name) !== true,
    );
    for (const name of seen) found[name]!.push(route);

    const second = await prepare(context);
    const unchanged = await look();
    for (const name of seen) {
      const { needs } = effects[name];
      const answer = await send(words, second, without[needs]);
      expect({ route, needs, text: answer.text }).toMatchObject({
        text: expect.stringContaining(`This action requires the '${needs}' permission`),
      });
      expect({ route, needs, did: effectsBetween(unchanged, await look()) }).toEqual({
        route,
        needs,
        did: [],
      });
    }
    // Anyone who has what is needed may do it.
    const routes = capabilitiesOfRoutes().get(words.slice(0, 2).join(' ').replace(/:$/, '')) ?? [];
    const enough = [...routes, ...seen.map((name) => effects[name].needs)];
    const { status, body: answer } = await send(words, second, await withOnly(enough));
    if (status >= 300) tooMuch.push(`${route}: ${answer.detail}`);
  }
  // These also grant what the caller must hold. The authorization and the account of Slack are those of another member.
  expect(tooMuch.map((each) => each.split(': This')[0])).toEqual([
    'DELETE /api/authorizations/{id}',
    'PATCH /api/members/{id}',
    'PATCH /api/members/{id}/permissions',
    'POST /api/data/keys: that may register endpoints',
    'POST /api/slack/account',
    'PUT /api/members/{id}',
    'PUT /api/members/{id}/permissions',
  ]);
  for (const name of effectNames) {
    expect([name, found[name]!.length > 0]).toEqual([name, true]);
    table.push([name, effects[name].needs, found[name]!.map((each) => `\`${each}\``).join('<br>')]);
  }
  const [head = [], ...rest] = table;
  const line = (cells: string[]) => `| ${cells.join(' | ')} |`;
  expectCommitted(
    'test/api/contract/effects.md',
    [line(head), line(head.map(() => '---')), ...rest.map(line), ''].join('\n'),
  );
}, 180_000);
