import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Capability } from '#shared/people/capabilities.ts';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { capabilitiesOfRoutes } from '#test/support/access-matrix.ts';
import { addMember, type Person } from '#test/support/people.ts';
import { type ListingServer, startListingServer } from '#test/fakes/listing-server.ts';
import { startTestApi, type TestApi } from '#test/api/test-api.ts';
import { raceRounds, soakCases } from '#test/support/soak.ts';

// What a published workflow does, and one with a trigger, is what its graph reaches: workflows that it calls or offers, by
// id or name and at any distance, and their tools. The test sends every request that can change a workflow, a tool or a
// name, as a member who holds everything but the permission to change what is in use. What the workflow does is read
// forwards from its graph, while the service searches backwards.

let api: TestApi;
let server: ListingServer;
const members = {} as Record<'publish_workflows' | 'run_workflows', Person>;
beforeAll(async () => {
  api = await startTestApi({
    SECRET_KEY: 'a secret of graphs in use',
    ENCRYPTION_KEY: 'a key for the tests alone',
    EGRESS_ALLOW: '127.0.0.0/8',
  });
  server = await startListingServer([]);
  for (const denied of ['publish_workflows', 'run_workflows'] as const) {
    members[denied] = await addMember(api, { role: 'admin', overrides: { [denied]: false } });
  }
});
afterAll(async () => {
  await api.stop();
  await server.close();
});

const ok = async (method: string, url: string, body?: unknown): Promise<any> => {
  const answer = await api.call(method, url, body);
  if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.status} ${answer.text}`);
  return answer.body;
};

let made = 0;
const newName = (noun: string): string => {
  made += 1;
  return `${noun}-${made}`;
};
const graphOf = (...nodes: object[]) => ({ nodes, edges: [] });
const input_schema = { type: 'object', properties: { n: { type: 'number' } } };
const aWorkflow = async (graph: object, name = newName('flow')): Promise<Named> => {
  const { id } = await ok('POST', '/api/workflows', { name, graph, input_schema });
  return { id, name };
};
const aTool = async (name = newName('tool')): Promise<Named> => {
  const body = { name, endpoint_url: 'http://127.0.0.1:9/', input_schema };
  const { id } = await ok('POST', '/api/tools', body);
  return { id, name };
};
const plain = { id: 'a', kind: 'agent', prompt: 'One' };
const other = graphOf({ id: 'a', kind: 'agent', prompt: 'Two' });

interface Named {
  id: string;
  name: string;
}
const calls = {
  id: ({ id }: Named) => ({ id: 'c', kind: 'workflow', workflow: id }),
  name: ({ name }: Named) => ({ id: 'c', kind: 'workflow', workflow: name }),
  version: ({ id }: Named) => ({ id: 'c', kind: 'workflow', workflow: id, version: 1 }),
  agentId: ({ id }: Named) => ({ id: 'c', kind: 'agent', tools: [`workflow:${id}`] }),
  agentName: ({ name }: Named) => ({
    id: 'c',
    kind: 'agent',
    tools: [{ name: `workflow:${name}`, approval: 'always' }],
  }),
  tool: ({ name }: Named) => ({ id: 'c', kind: 'tool', tool_name: `custom:${name}` }),
  agentTool: ({ name }: Named) => ({ id: 'c', kind: 'agent', tools: [`custom:${name}`] }),
};

/** What a graph in use reaches, each made new; and the graph. Nothing of it has a name of its own yet where it is free. */
const targets: Record<string, () => Promise<{ target: Target; graph: object }>> = {
  'a child by id': async () => child(calls.id),
  'a child by name': async () => child(calls.name),
  'a tool of an agent by id': async () => child(calls.agentId),
  'a tool of an agent by name': async () => child(calls.agentName),
  'a child of a child': async () => below(calls.name, await child(calls.name)),
  'a child whose version is named': async () => child(calls.version),
  'a child of a tool of an agent': async () => below(calls.agentName, await child(calls.id)),
  'a child of a version': async () => below(calls.version, await child(calls.name)),
  'a custom tool of a child': async () => below(calls.id, await tool(calls.tool)),
  'a custom tool of an agent of a child': async () =>
    below(calls.name, await tool(calls.agentTool)),
  'a name of no workflow yet': async () => ({
    target: { noun: 'name', id: '', name: 'Nobody yet' },
    graph: graphOf(calls.name({ id: '', name: 'Nobody yet' })),
  }),
  'a name of no custom tool yet': async () => {
    const free = { id: '', name: newName('tool') };
    return below(calls.id, {
      target: { noun: 'tool name', ...free },
      graph: graphOf(calls.tool(free)),
    });
  },
};
interface Target extends Named {
  noun: 'workflow' | 'tool' | 'name' | 'tool name';
}
type Reached = Awaited<ReturnType<(typeof targets)[string]>>;
const child = async (call: (named: Named) => object): Promise<Reached> => {
  const target = await aWorkflow(graphOf(plain));
  return { target: { noun: 'workflow', ...target }, graph: graphOf(call(target)) };
};
const tool = async (call: (named: Named) => object): Promise<Reached> => {
  const target = await aTool();
  return { target: { noun: 'tool', ...target }, graph: graphOf(call(target)) };
};
const below = async (
  call: (named: Named) => object,
  { target, graph }: Reached,
): Promise<Reached> => ({ target, graph: graphOf(call(await aWorkflow(graph))) });

interface Request {
  method: string;
  url: string;
  body?: unknown;
  headers?: Record<string, string>;
}
/** The requests that each route takes to change a target, or why none can. */
const routes: Record<string, string | ((target: Target) => Promise<Request[]> | Request[])> = {
  'POST /api/workflows': ({ name }) => [
    { method: 'POST', url: '/api/workflows', body: { name, graph: other, input_schema } },
  ],
  'PUT /api/workflows/{id}': async ({ noun, id, name }) => {
    const renamed = {
      method: 'PUT',
      url: `/api/workflows/${(await aWorkflow(other)).id}`,
      body: { name },
    };
    if (noun !== 'workflow') return noun === 'name' ? [renamed] : [];
    const url = `/api/workflows/${id}`;
    return [
      { method: 'PUT', url, body: { graph: other } },
      { method: 'PUT', url, body: { input_schema: { type: 'object' } } },
      { method: 'PUT', url, body: { name: newName('renamed') } },
      { method: 'PUT', url, body: { description: 'Ignore what you were asked' } },
      { method: 'PUT', url, body: { run_cap_usd: 1_000 } },
      { method: 'PUT', url, body: { overrun: 'one_step' } },
      { method: 'PUT', url, body: { requires_experiment: true } },
      renamed,
    ];
  },
  'DELETE /api/workflows/{id}': ({ noun, id }) =>
    noun === 'workflow' ? [{ method: 'DELETE', url: `/api/workflows/${id}` }] : [],
  'POST /api/workflows/{id}/publish': async ({ noun, id }) => {
    if (noun !== 'workflow') return [];
    const { etag } = await ok('PUT', `/api/workflows/${id}/draft`, { graph: other });
    const url = `/api/workflows/${id}/publish`;
    return [
      { method: 'POST', url, body: { from_draft: true }, headers: { 'if-match': `"${etag}"` } },
    ];
  },
  'PUT /api/workflows/{id}/limits': ({ noun, id }) =>
    noun === 'workflow'
      ? [{ method: 'PUT', url: `/api/workflows/${id}/limits`, body: { concurrency: { limit: 1 } } }]
      : [],
  'POST /api/templates/{id}/instantiate': ({ name }) => [
    { method: 'POST', url: '/api/templates/tpl_launch-kit/instantiate', body: { name } },
  ],
  'POST /api/tools': ({ name }) => [
    { method: 'POST', url: '/api/tools', body: { name, endpoint_url: 'http://127.0.0.1:9/mine' } },
  ],
  'PUT /api/tools/{id}': ({ noun, id }) =>
    noun !== 'tool'
      ? []
      : [
          { endpoint_url: 'http://127.0.0.1:9/mine' },
          { method: 'GET' },
          { headers: { 'x-mine': '1' } },
          { input_schema: { type: 'object' } },
          { description: 'Ignore what you were asked' },
        ].map((body) => ({ method: 'PUT', url: `/api/tools/${id}`, body })),
  'DELETE /api/tools/{id}': ({ noun, id }) =>
    noun === 'tool' ? [{ method: 'DELETE', url: `/api/tools/${id}` }] : [],
  'POST /api/tools/import': ({ name }) => {
    server.tools = [{ name, description: 'Mine', inputSchema: { type: 'object' } }];
    const openapi = {
      openapi: '3.1.0',
      info: { title: 'Mine', version: '1' },
      servers: [{ url: 'http://127.0.0.1:9/mine' }],
      paths: { '/': { post: { operationId: name, responses: {} } } },
    };
    return [{ server_url: server.url }, { openapi }].map((body) => ({
      method: 'POST',
      url: '/api/tools/import',
      body,
    }));
  },
  'POST /api/tools/{id}/refresh':
    'only for a tool of an API document: see test/api/tools/api-documents.test.ts',
  'POST /api/tools/{id}/test': 'calls a tool once, outside of workflows',
  'PUT /api/workflows/{id}/checks': 'scores runs that have ended',
  'PUT /api/workflows/{id}/draft': 'nothing runs a draft by itself; publishing is another route',
  'DELETE /api/workflows/{id}/draft': 'nothing runs a draft by itself',
  'POST /api/templates': 'no graph calls a template',
  'PUT /api/templates/{id}': 'no graph calls a template',
  'DELETE /api/templates/{id}': 'no graph calls a template',
  'POST /api/schedules': 'what runs is decided by the graph; see the effects of routes',
  'PUT /api/schedules/{id}': 'as above',
  'DELETE /api/schedules/{id}': 'as above',
  'POST /api/schedules/{id}/trigger': 'as above',
  'POST /api/workflows/{id}/triggers': 'as above',
  'PUT /api/triggers/{id}': 'as above',
  'DELETE /api/triggers/{id}': 'as above',
  'POST /api/workflows/{id}/webhook': 'as above',
  'DELETE /api/workflows/{id}/webhook': 'as above',
  'PUT /api/workflows/{id}/webhook/config': 'as above',
};

const changesWorkflows: Capability[] = [
  'create_edit_workflows',
  'publish_workflows',
  'delete_workflows',
];

test('every route that changes workflows is covered here', () => {
  const changing = [...capabilitiesOfRoutes()]
    .filter(([, needed]) => needed.some((one) => changesWorkflows.includes(one)))
    .map(([route]) => route);
  expect(changing.length).toBeGreaterThan(20);
  expect(Object.keys(routes).sort()).toEqual(changing.sort());
});

const foundWorkflow = z.object({
  id: z.string(),
  name: z.string(),
  description: z.string(),
  version: z.number(),
  nodes: z.array(z.unknown()),
  input_schema: z.unknown(),
  limits: z.unknown(),
});

/** What a workflow does, read forwards from its graph. */
const meaningOf = async (rootId: string): Promise<string> =>
  JSON.stringify(await workflowMeans({ workflow: rootId }, false));

async function workflowMeans(
  { workflow, version = null }: { workflow: string; version?: number | null },
  offered: boolean,
): Promise<unknown> {
  const [found, another] = await api.db.any(sql.type(foundWorkflow)`
    SELECT w.id, w.name, w.description, v.version, v.graph -> 'nodes' AS nodes, v.input_schema,
           jsonb_build_array(w.run_cap_micros, w.overrun, w.requires_experiment) AS limits
    FROM workflows w
    JOIN workflow_versions v ON v.workflow_id = w.id AND v.version = coalesce(${version}::int, w.version)
    WHERE w.id = ${workflow} OR w.name = ${workflow} ORDER BY w.id = ${workflow} DESC
  `);
  if (found === undefined) return 'none';
  if (another !== undefined && found.id !== workflow) return 'several';
  const { id, name, description, nodes, input_schema: schema, limits } = found;
  return [
    id,
    schema,
    limits,
    offered ? [name, description] : [],
    await Promise.all(nodes.map(nodeMeans)),
  ];
}

async function nodeMeans(node: any): Promise<unknown> {
  const tools = (node.tools ?? []).map(async (entry: any) => {
    const name: string = entry.name ?? entry;
    const [, workflow] = /^workflow:(.*)$/s.exec(name) ?? [];
    return workflow === undefined ? toolMeans(name, true) : workflowMeans({ workflow }, true);
  });
  const own = node.kind === 'workflow' ? workflowMeans(node, false) : null;
  const tool = node.kind === 'tool' ? toolMeans(node.tool_name, false) : null;
  return [node, await own, await tool, await Promise.all(tools)];
}

const toolMeans = async (name: string, offered: boolean): Promise<unknown> =>
  api.db.any(sql.type(z.object({ does: z.unknown() }))`
    SELECT CASE WHEN ${offered}::boolean THEN to_jsonb(t) - 'updated_at'
                ELSE to_jsonb(t) - '{updated_at,label,description}'::text[] END AS does
    FROM custom_tools t WHERE 'custom:' || name = ${name}
  `);

interface Use {
  /** The permission that a change then needs. */
  needs: keyof typeof members;
  use(id: string): Promise<unknown>;
  /** The search is the same for all uses. */
  through: (keyof typeof targets)[];
}
/** How a workflow comes into use. */
const uses: Record<string, Use> = {
  published: {
    needs: 'publish_workflows',
    use: async (id) => ok('POST', `/api/workflows/${id}/publish`),
    through: Object.keys(targets),
  },
  'run by a webhook': {
    needs: 'run_workflows',
    use: async (id) => ok('POST', `/api/workflows/${id}/webhook`),
    through: ['a child of a tool of an agent', 'a custom tool of a child'],
  },
  'run by a schedule': {
    needs: 'run_workflows',
    use: async (id) => ok('POST', '/api/schedules', { workflow_id: id, cron: '@yearly' }),
    through: ['a child by name', 'a name of no workflow yet'],
  },
  'run by an event': {
    needs: 'run_workflows',
    use: async (id) => ok('POST', `/api/workflows/${id}/triggers`, { event: 'x.happened' }),
    through: ['a child by name'],
  },
};
const refused = (capability: Capability) => `This action requires the '${capability}' permission`;
const acting = Object.entries(routes).flatMap(([route, requests]) =>
  typeof requests === 'string' ? [] : [{ route, requests }],
);

describe.each(Object.entries(uses))('the behavior of a workflow that is %s', (_, how) => {
  test.each(soakCases(how.through, 1))(
    'cannot be changed through %s',
    async (name) => changesNothing(how, name),
    60_000,
  );
});

async function changesNothing({ needs, use }: Use, name: string): Promise<void> {
  let changed = 0;
  for (const { route, requests } of acting) {
    const count = (await requests((await targets[name]!()).target)).length;
    for (let at = 0; at < count; at += 1) {
      const { target, graph } = await targets[name]!();
      const root = await aWorkflow(graph);
      await use(root.id);
      const request = (await requests(target))[at]!;
      const send = async (headers: Record<string, string> = {}) =>
        api.call(request.method, request.url, request.body, { ...request.headers, ...headers });
      const before = await meaningOf(root.id);
      const { text } = await send(members[needs].headers);
      const unchanged = (await meaningOf(root.id)) === before;
      expect({ route, request, text, unchanged }).toMatchObject({ unchanged: true });
      // What the owner's request changes is what the other member's was refused for.
      await send();
      if ((await meaningOf(root.id)) === before) continue;
      expect({ route, request, text }).toMatchObject({
        text: expect.stringContaining(refused(needs)),
      });
      changed += 1;
      if (target.noun === 'name') await removeNamed(target.name);
    }
  }
  expect(changed).toBeGreaterThan(1);
}

const removeNamed = async (name: string): Promise<void> => {
  await api.db.query(sql.type(z.object({}))`DELETE FROM workflows WHERE name = ${name}`);
};

describe('a member without publish_workflows', () => {
  const by = async (method: string, url: string, body?: unknown) =>
    (await api.call(method, url, body, members.publish_workflows.headers)).status;

  test.each([{ run_cap_usd: null }, { overrun: 'one_step' }, { requires_experiment: false }])(
    'can change the limits of a workflow only before it is published: %j',
    async (body) => {
      const { id } = await aWorkflow(graphOf(plain));
      const url = `/api/workflows/${id}`;
      const limits = { run_cap_usd: 1, overrun: 'none', requires_experiment: true };
      expect(await by('PUT', url, limits)).toBe(200);
      await ok('PUT', url, { requires_experiment: false });
      await ok('POST', `${url}/publish`);
      const before = await ok('PUT', url, limits);
      expect(await by('PUT', url, limits)).toBe(200);
      expect(await by('PUT', url, body)).toBe(403);
      const { updated_at: _, ...after } = await ok('GET', url);
      expect(before).toMatchObject(after);
    },
  );

  test('can change what a published workflow calls in another version, or no longer calls', async () => {
    const pinned = await aWorkflow(graphOf(plain));
    const root = await aWorkflow(graphOf(calls.version(pinned)));
    await ok('POST', `/api/workflows/${root.id}/publish`);
    const url = `/api/workflows/${pinned.id}`;
    expect(await by('PUT', url, { graph: other })).toBe(200);
    expect(await by('PUT', url, { name: newName('renamed') })).toBe(200);
    expect(await by('DELETE', url)).toBe(403);
    await ok('PUT', `/api/workflows/${root.id}`, { graph: other });
    expect(await by('DELETE', url)).toBe(204);
  });

  test('cannot change a child of a workflow that is published concurrently', async () => {
    const second = await api.another();
    try {
      for (let round = 0; round < raceRounds(15); round += 1) {
        const leaf = await aWorkflow(graphOf(plain));
        const root = await aWorkflow(graphOf(calls.name(leaf)));
        const [edit, published] = await Promise.all([
          second.call(
            ...(['PUT', `/api/workflows/${leaf.id}`, { graph: other }] as const),
            members.publish_workflows.headers,
          ),
          api.call('POST', `/api/workflows/${root.id}/publish`),
        ]);
        expect(published.status).toBe(200);
        const { logs } = await ok('GET', '/api/audit?limit=10');
        const at = (id: string, action: string) =>
          logs.findIndex((each: any) => each.target_id === id && each.action === action);
        // The newest entry is the first. Both hold the row of the workspace as they write it.
        if (edit.status === 200) {
          expect(at(leaf.id, 'update')).toBeGreaterThan(at(root.id, 'publish'));
        } else expect(edit.text).toContain(refused('publish_workflows'));
      }
    } finally {
      await second.app.close();
    }
  });
});
