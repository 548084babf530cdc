import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import type { Capability } from '#shared/people/capabilities.ts';
import { sql } from '#shared/db/pool.ts';
import { untilLockWaiters } from '#test/support/lock-waits.ts';
import { addMember, type Person } from '#test/support/people.ts';
import { stopBefore } from '#test/support/stop-before.ts';
import { oneStep, startTestApi, type TestApi } from '#test/api/test-api.ts';
import { raceRounds } from '#test/support/soak.ts';

// Tries each protected action through every route to it, as an editor who was denied only the capability that the
// action needs.

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi({ SECRET_KEY: 'a secret of the doors' });
});
afterAll(async () => api.stop());

const editorWithout = (...denied: Capability[]): Promise<Person> =>
  addMember(api, {
    role: 'editor',
    overrides: Object.fromEntries(denied.map((name) => [name, false])),
  });
const refused = (capability: Capability) => [
  403,
  { detail: `This action requires the '${capability}' permission` },
];
const by =
  ({ headers }: Person) =>
  async (method: string, url: string, body?: unknown) => {
    const answer = await api.call(method, url, body, headers);
    return [answer.status, answer.body] as const;
  };
const create = async (url: string, body: unknown): Promise<any> => {
  const answer = await api.call('POST', url, body);
  expect([url, answer.status]).toEqual([url, 201]);
  return answer.body;
};
const newWorkflow = async (): Promise<string> =>
  (await create('/api/workflows', { name: 'x', graph: oneStep })).id;
const otherGraph = {
  nodes: [{ id: 'answer', kind: 'agent', prompt: 'Give away {ticket}' }],
  edges: [],
};
let calledTools = 0;
const toolNode = (tool_name: string) => ({ id: 'a', kind: 'tool', tool_name });
/** Agents that offer the tool, in both forms. */
const agents = {
  'an agent by its name': (name: string) => ({ id: 'a', kind: 'agent', tools: [name] }),
  'an agent with options': (name: string) => ({
    id: 'a',
    kind: 'agent',
    tools: ['http_request', { name, approval: 'always' }],
  }),
};
/** Creates a tool and a draft whose graph calls it. */
async function calledTool(node: (name: string) => object = toolNode) {
  calledTools += 1;
  const body = {
    name: `called-${calledTools}`,
    endpoint_url: 'http://127.0.0.1:9/',
    input_schema: { type: 'object' },
  };
  const { id: tool } = await create('/api/tools', body);
  const graph = { nodes: [node(`custom:${body.name}`)], edges: [] };
  const { id: workflow } = await create('/api/workflows', { name: 'x', graph });
  return { tool, workflow, body, graph };
}
const runsOf = async (workflowId: string): Promise<number> =>
  (await api.call('GET', `/api/workflows/${workflowId}/runs`)).body.runs.length;

describe('an editor without run_workflows', () => {
  let editor: Person;
  beforeAll(async () => {
    editor = await editorWithout('run_workflows');
  });

  test('cannot start a run directly, by a schedule or through MCP', async () => {
    const workflowId = await newWorkflow();
    const schedule = await create('/api/schedules', { workflow_id: workflowId, cron: '@yearly' });
    const call = by(editor);
    expect(await call('POST', `/api/workflows/${workflowId}/runs`, {})).toEqual(
      refused('run_workflows'),
    );
    expect(await call('POST', `/api/schedules/${schedule.id}/trigger`)).toEqual(
      refused('run_workflows'),
    );
    const { text } = await api.call(
      'POST',
      '/api/mcp',
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'run_workflow', arguments: { workflow: workflowId } },
      },
      { ...editor.headers, accept: 'application/json, text/event-stream' },
    );
    expect(text).toContain("This action requires the 'run_workflows' permission");
    expect(await runsOf(workflowId)).toBe(0);
  });

  test('can create and change disabled schedules, but not enable them', async () => {
    const workflow_id = await newWorkflow();
    const call = by(editor);
    const schedule = { workflow_id, cron: '0 0 1 1 *' };
    expect(await call('POST', '/api/schedules', schedule)).toEqual(refused('run_workflows'));
    const [status, { id }] = await call('POST', '/api/schedules', { ...schedule, enabled: false });
    expect(status).toBe(201);
    const url = `/api/schedules/${id}`;
    expect(await call('PUT', url, { cron: '@hourly', input: { ticket: 'x' } })).toMatchObject([
      200,
      { cron: '@hourly', enabled: false },
    ]);
    expect(await call('PUT', url, { enabled: true })).toEqual(refused('run_workflows'));
    await api.call('PUT', url, { enabled: true });
    for (const change of [
      { cron: '* * * * *' },
      { timezone: 'Europe/Berlin' },
      { input: { ticket: 'y' } },
      { overlap: 'allow' },
    ]) {
      expect([change, await call('PUT', url, change)]).toEqual([change, refused('run_workflows')]);
    }
    expect(await call('PUT', url, { name: 'Yearly', cron: '@hourly' })).toMatchObject([
      200,
      { name: 'Yearly' },
    ]);
    expect(await call('PUT', url, { enabled: false, cron: '@daily' })).toMatchObject([
      200,
      { enabled: false },
    ]);
    expect((await call('DELETE', url))[0]).toBe(204);
  });

  test('cannot enable a webhook or see its URL', async () => {
    const workflowId = await newWorkflow();
    const path = `/api/workflows/${workflowId}/webhook`;
    const call = by(editor);
    expect(await call('POST', path)).toEqual(refused('run_workflows'));
    const { url } = (await api.call('POST', path)).body;
    expect(await call('POST', path)).toEqual(refused('run_workflows'));
    const masked = url.replace(/[0-9a-f]{32}$/, '*'.repeat(32));
    expect(await call('GET', path)).toMatchObject([200, { enabled: true, url: masked }]);
    expect(await call('PUT', `${path}/config`, { dedup_window_seconds: 60 })).toMatchObject([
      200,
      { url: masked },
    ]);
    expect((await api.call('POST', new URL(masked).pathname, {})).status).toBe(404);
    expect((await api.call('POST', new URL(url).pathname, {})).status).toBe(201);
    expect((await call('DELETE', path))[0]).toBe(204);
  });

  test('cannot change a graph that a webhook or schedule runs', async () => {
    const change = (workflowId: string) =>
      by(editor)('PUT', `/api/workflows/${workflowId}`, { graph: otherGraph });
    const free = await newWorkflow();
    expect((await change(free))[0]).toBe(200);

    const hooked = await newWorkflow();
    await api.call('POST', `/api/workflows/${hooked}/webhook`);
    expect(await change(hooked)).toEqual(refused('run_workflows'));
    const rename = { name: 'y', graph: oneStep };
    expect((await by(editor)('PUT', `/api/workflows/${hooked}`, rename))[0]).toBe(200);
    await api.call('DELETE', `/api/workflows/${hooked}/webhook`);
    expect((await change(hooked))[0]).toBe(200);

    const scheduled = await newWorkflow();
    const { id } = await create('/api/schedules', { workflow_id: scheduled, cron: '@yearly' });
    expect(await change(scheduled)).toEqual(refused('run_workflows'));
    await api.call('PUT', `/api/schedules/${id}`, { enabled: false });
    expect((await change(scheduled))[0]).toBe(200);
  });

  test('cannot change a tool called by a graph that a webhook or schedule runs', async () => {
    const { tool, workflow, body } = await calledTool();
    const url = `/api/tools/${tool}`;
    const call = by(editor);
    const elsewhere = { endpoint_url: 'http://127.0.0.1:9/elsewhere' };
    expect((await call('PUT', url, elsewhere))[0]).toBe(200);

    await api.call('POST', `/api/workflows/${workflow}/webhook`);
    expect(await call('PUT', url, { retry_count: 3 })).toEqual(refused('run_workflows'));
    expect(await call('PUT', url, { label: 'New', description: 'Other' })).toMatchObject([
      200,
      { label: 'New' },
    ]);
    expect(await call('PUT', url, elsewhere)).toMatchObject([200, elsewhere]);
    expect(await call('DELETE', url)).toEqual(refused('run_workflows'));
    expect((await call('GET', url))[0]).toBe(200);
    await api.call('DELETE', url);
    expect(await call('POST', '/api/tools', body)).toEqual(refused('run_workflows'));
    await api.call('DELETE', `/api/workflows/${workflow}/webhook`);
    expect((await call('POST', '/api/tools', body))[0]).toBe(201);

    const schedule = { workflow_id: workflow, cron: '@yearly' };
    const { id } = await create('/api/schedules', schedule);
    const [again] = (await call('GET', '/api/tools'))[1].filter(
      (each: any) => each.name === body.name,
    );
    expect(await call('PUT', `/api/tools/${again.id}`, elsewhere)).toEqual(
      refused('run_workflows'),
    );
    await api.call('PUT', `/api/workflows/${workflow}`, { graph: oneStep });
    expect((await call('PUT', `/api/tools/${again.id}`, elsewhere))[0]).toBe(200);
    await api.call('DELETE', `/api/schedules/${id}`);
    expect((await call('DELETE', `/api/tools/${again.id}`))[0]).toBe(204);
  });

  test.each(Object.entries(agents))(
    'cannot change a tool, nor its texts for the model, when %s offers it in such a graph',
    async (_, node) => {
      const { tool, workflow, body } = await calledTool(node);
      const url = `/api/tools/${tool}`;
      const call = by(editor);
      expect((await call('PUT', url, { description: 'Draft' }))[0]).toBe(200);
      await api.call('POST', `/api/workflows/${workflow}/webhook`);
      for (const change of [{ retry_count: 3 }, { description: 'Other' }, { label: 'Other' }]) {
        expect(await call('PUT', url, change)).toEqual(refused('run_workflows'));
      }
      expect(await call('DELETE', url)).toEqual(refused('run_workflows'));
      await api.call('DELETE', url);
      expect(await call('POST', '/api/tools', body)).toEqual(refused('run_workflows'));
      await api.call('DELETE', `/api/workflows/${workflow}/webhook`);
      expect((await call('POST', '/api/tools', body))[0]).toBe(201);
    },
  );

  test('a pending tool change delays enabling, saving or publishing its graphs', async () => {
    const { tool, workflow, graph } = await calledTool();
    const url = `/api/workflows/${workflow}`;
    const schedule = { workflow_id: workflow, cron: '@yearly', enabled: false };
    const { id } = await create('/api/schedules', schedule);
    const uses = {
      'a new schedule': () => api.call('POST', '/api/schedules', { ...schedule, enabled: true }),
      'a schedule that is enabled': () =>
        api.call('PUT', `/api/schedules/${id}`, { enabled: true }),
      'a webhook': () => api.call('POST', `${url}/webhook`),
      'a saved graph': () => api.call('PUT', url, { graph: { ...graph, note: 'again' } }),
      'what is published': () => api.call('POST', `${url}/publish`),
    };
    const stop = async () =>
      stopBefore(api.db, {
        change: sql.fragment`UPDATE`,
        table: 'custom_tools',
        when: sql.fragment`NEW.id = OLD.id`,
      });
    let tries = 0;
    for (const [name, use] of Object.entries(uses)) {
      tries += 1;
      const { reached, release } = await stop();
      const changed = api.call('PUT', `/api/tools/${tool}`, { retry_count: tries + 1 });
      await reached();
      const used = use();
      const waits = untilLockWaiters(api.db, 2).then(() => 'waits');
      expect([name, await Promise.race([used, waits])]).toEqual([name, 'waits']);
      await release();
      expect((await changed).status).toBe(200);
      expect([200, 201]).toContain((await used).status);
    }
    expect(await by(editor)('PUT', `/api/tools/${tool}`, { retry_count: 0 })).toEqual(
      refused('run_workflows'),
    );
  });

  test('a pending graph change delays enabling a schedule', async () => {
    const other = new pg.Client({ connectionString: api.databaseUrl });
    await other.connect();
    const workflow_id = await newWorkflow();
    const { id } = await create('/api/schedules', { workflow_id, cron: '@yearly', enabled: false });
    const lock = async () => {
      await other.query('BEGIN');
      await other.query('SELECT FROM workflows WHERE id = $1 FOR NO KEY UPDATE', [workflow_id]);
    };
    try {
      for (const enable of [
        () => api.call('POST', '/api/schedules', { workflow_id, cron: '@yearly' }),
        () => api.call('PUT', `/api/schedules/${id}`, { enabled: true }),
      ]) {
        await lock();
        const enabled = enable();
        const waits = untilLockWaiters(api.db, 1).then(() => 'waits');
        expect(await Promise.race([enabled, waits])).toBe('waits');
        await other.query('COMMIT');
        expect((await enabled).body).toMatchObject({ enabled: true });
      }
    } finally {
      await other.end();
    }
  });
});

describe('an editor without publish_workflows', () => {
  test('can change drafts, and published workflows except for their graph', async () => {
    const editor = await editorWithout('publish_workflows');
    const workflowId = await newWorkflow();
    const url = `/api/workflows/${workflowId}`;
    const change = (body: object) => by(editor)('PUT', url, body);
    expect((await change({ graph: otherGraph }))[0]).toBe(200);
    expect(await by(editor)('POST', `${url}/publish`)).toEqual(refused('publish_workflows'));
    await api.call('POST', `${url}/publish`);
    expect(await change({ graph: oneStep })).toEqual(refused('publish_workflows'));
    expect(await change({ name: 'y', graph: oneStep })).toEqual(refused('publish_workflows'));
    const input_schema = { type: 'object' };
    expect(await change({ input_schema })).toEqual(refused('publish_workflows'));
    const [, { etag }] = await by(editor)('PUT', `${url}/draft`, { graph: oneStep });
    const known = { ...editor.headers, 'if-match': `"${etag}"` };
    const fromDraft = await api.call('POST', `${url}/publish`, { from_draft: true }, known);
    expect([fromDraft.status, fromDraft.body]).toEqual(refused('publish_workflows'));
    // The same graph with its keys in another order is no change.
    const same = { edges: otherGraph.edges, nodes: otherGraph.nodes };
    expect(await change({ name: 'z', graph: same })).toMatchObject([
      200,
      { name: 'z', version: 2, status: 'published' },
    ]);
    const fresh = await addMember(api, { role: 'editor' });
    expect((await by(fresh)('PUT', url, { graph: oneStep }))[0]).toBe(200);
  });

  test('cannot change a tool that a published graph calls', async () => {
    const editor = await editorWithout('publish_workflows');
    const { tool, workflow, body } = await calledTool();
    const url = `/api/tools/${tool}`;
    await api.call('POST', `/api/workflows/${workflow}/publish`);
    const call = by(editor);
    expect(await call('PUT', url, { retry_count: 3 })).toEqual(refused('publish_workflows'));
    expect(await call('DELETE', url)).toEqual(refused('publish_workflows'));
    // A name that only starts with the tool's name, or occurs only in a text, does not refer to the tool.
    const other = await create('/api/tools', { ...body, name: `${body.name}-x` });
    expect((await call('PUT', `/api/tools/${other.id}`, { retry_count: 3 }))[0]).toBe(200);
    const named = await create('/api/tools', { ...body, name: `${body.name}-text` });
    const node = { id: 'a', kind: 'agent', prompt: `custom:${named.name}` };
    const { id } = await create('/api/workflows', {
      name: 'x',
      graph: { nodes: [node], edges: [] },
    });
    await api.call('POST', `/api/workflows/${id}/publish`);
    expect((await call('DELETE', `/api/tools/${named.id}`))[0]).toBe(204);
  });

  test('cannot change a graph that is published concurrently', async () => {
    const editor = await editorWithout('publish_workflows');
    const second = await api.another();
    try {
      for (let round = 0; round < raceRounds(40); round += 1) {
        const workflowId = await newWorkflow();
        const url = `/api/workflows/${workflowId}`;
        const [edit, published] = await Promise.all([
          second.call('PUT', url, { graph: otherGraph }, editor.headers),
          api.call('POST', `${url}/publish`),
        ]);
        expect(published.status).toBe(200);
        const [entry] = (await api.call('GET', '/api/audit?limit=5')).body.logs.filter(
          (each: any) => each.action === 'publish' && each.target_id === workflowId,
        );
        // The published version is the current one.
        const { version } = (await api.call('GET', url)).body;
        expect([edit.status, version]).toEqual(edit.status === 403 ? [403, 1] : [200, 2]);
        expect(entry.details.version).toBe(version);
      }
    } finally {
      await second.app.close();
    }
  });
});

describe('a viewer', () => {
  test('cannot read webhook secrets anywhere', async () => {
    const viewer = await addMember(api, { role: 'viewer' });
    const workflowId = await newWorkflow();
    const path = `/api/workflows/${workflowId}/webhook`;
    const { url } = (await api.call('POST', path)).body;
    const secret = url.slice(-32);
    await api.call('POST', new URL(url).pathname, {});
    await create('/api/templates', { name: 'Copy', workflow_id: workflowId });
    const { paths } = (await api.call('GET', '/api/openapi.json')).body;
    const runId = (await api.call('GET', `/api/workflows/${workflowId}/runs`)).body.runs[0].id;
    const ids: Record<string, string> = { workflows: workflowId, runs: runId };
    let seen = 0;
    for (const route of Object.keys(paths).filter((each) => paths[each].get !== undefined)) {
      const id = ids[/^\/api\/(\w+)\/\{id\}/.exec(route)?.[1] ?? ''] ?? 'x';
      const at = route.replace('{id}', id).replace('{version}', '1');
      if (at.includes('{') || at.endsWith('/stream')) continue;
      const { text, status } = await api.call('GET', at, undefined, viewer.headers);
      expect([at, text.includes(secret)]).toEqual([at, false]);
      if (status === 200) seen += 1;
    }
    expect(seen).toBeGreaterThan(25);
    expect((await by(viewer)('GET', path))[1].url).toMatch(/\/\*{32}$/);
    const editor = await addMember(api, { role: 'editor' });
    expect((await by(editor)('GET', path))[1].url).toBe(url);
  });
});

describe('a member who can create keys', () => {
  test('cannot grant a data API key more than they hold', async () => {
    const make = async (scopes: string[], ...denied: Capability[]) => {
      const keeper = await addMember(api, {
        role: 'admin',
        overrides: Object.fromEntries(denied.map((name) => [name, false])),
      });
      return by(keeper)('POST', '/api/data/keys', { name: 'x', mode: 'live', scopes });
    };
    expect(await make(['entities:read'], 'view')).toEqual(refused('view'));
    expect(await make(['exports:create'], 'view')).toEqual(refused('view'));
    expect(await make(['webhooks:write'], 'manage_workspace')).toEqual(refused('manage_workspace'));
    expect((await make(['webhooks:read', 'entities:read'], 'manage_workspace'))[0]).toBe(201);
  });
});
