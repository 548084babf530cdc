import { beforeAll, describe, expect, test } from '@jest/globals';
import pg from 'pg';
import type { Capability } from '#shared/people/capabilities.ts';
import { sql } from '#shared/db/pool.ts';
import { untilLockWaiters } from '#test/support/lock-waits.ts';
import { addMember, type Person } from '#test/support/people.ts';
import { stopBefore } from '#test/support/stop-before.ts';
import { oneStep, useTestApi } from '#test/api/test-api.ts';
import { raceRounds } from '#test/support/soak.ts';

// Tries each protected action through every route to it, as an editor who was denied only the capability that the
// action needs.

const api = useTestApi({ SECRET_KEY: 'a secret for authorization' });

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
/** Creates a tool and a draft whose graph calls it. */
async function calledTool() {
  calledTools += 1;
  const body = {
    name: `called-${calledTools}`,
    endpoint_url: 'http://127.0.0.1:9/',
    input_schema: { type: 'object' },
  };
  const { id: tool } = await create('/api/tools', body);
  const graph = { nodes: [toolNode(`custom:${body.name}`)], edges: [] };
  const { id: workflow } = await create('/api/workflows', { name: 'x', graph });
  return { tool, workflow, body, graph };
}

describe('an editor without run_workflows', () => {
  let editor: Person;
  beforeAll(async () => {
    editor = await editorWithout('run_workflows');
  });

  test('cannot see the URL of a webhook', async () => {
    const path = `/api/workflows/${await newWorkflow()}/webhook`;
    const call = by(editor);
    const { url } = (await api.call('POST', path)).body;
    const masked = url.replace(/[0-9a-f]{32}$/, '*'.repeat(32));
    expect(await call('GET', path)).toMatchObject([200, { enabled: true, url: masked }]);
    expect(await call('PUT', `${path}/config`, { dedup_window_seconds: 60 })).toMatchObject([
      200,
      { url: masked },
    ]);
    expect((await api.call('POST', new URL(masked).pathname, {})).status).toBe(404);
    expect((await api.call('POST', new URL(url).pathname, {})).status).toBe(201);
  });

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
  test('can change a tool whose name is only the prefix of another name, or only occurs in a text', async () => {
    const editor = await editorWithout('publish_workflows');
    const { tool, workflow, body } = await calledTool();
    await api.call('POST', `/api/workflows/${workflow}/publish`);
    const call = by(editor);
    expect(await call('DELETE', `/api/tools/${tool}`)).toEqual(refused('publish_workflows'));
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
