import { setTimeout as sleep } from 'node:timers/promises';
import type { Acts } from './actions.ts';
import type { Cluster } from './cluster.ts';
import type { Outside } from './effects.ts';
import { type Answer, ask, type Caller, type Person, type Request } from './people.ts';
import type { Random } from './random.ts';
import type { Follower } from './streams.ts';
import { CALL_LIMITS, graphs, type GraphName, type StormGraph } from './workload/graphs.ts';

/** The shared context of the workload. */
export interface World {
  apiUrls: readonly [string, string];
  caller: Caller;
  acts: Acts;
  outside: Outside;
  follower: Follower;
  /** Two members who sign in, and a program with a key without a member. */
  people: { owner: Person; colleague: Person; program: Person };
  workflows: Record<GraphName, string>;
  hook: { workflowId: string; path: string; secret: string };
  schedules: { id: string; overlap: 'skip' | 'allow' }[];
  feedId: string;
  dataKey: Person;
  /** The endpoint that usually succeeds. */
  endpointId: string;
  /** Terminates an execution, as in the Temporal UI. Rejects if Temporal does not respond. */
  terminate(runId: string): Promise<void>;
  /** False once the storm is over: start nothing new. */
  running(): boolean;
}

export type Feature = {
  name: string;
  weight: number;
  /** One complete action of a client. `id` is unique. */
  run(world: World, random: Random, id: string): Promise<void>;
};

const SET_UP_TRIES = 40;

/** Set-up runs before the storm: every request must succeed. */
async function must(baseUrl: string, person: Person | undefined, request: Request): Promise<any> {
  let answer: Answer | undefined;
  for (let tries = 0; tries < SET_UP_TRIES; tries += 1) {
    answer = await ask(baseUrl, person, request);
    if (answer.outcome === 'acknowledged') return answer.body;
    if (answer.status !== 503) break;
    await sleep(250);
  }
  throw new Error(
    `${request.method} ${request.path} answered ${answer?.status}: ${JSON.stringify(answer?.body)}`,
  );
}

const signedIn = (name: string, session: any): Person => ({
  name,
  id: session.member.id,
  token: session.token,
  headers: { authorization: `Bearer ${session.token}` },
});

type Fixtures = Pick<
  World,
  'people' | 'workflows' | 'hook' | 'schedules' | 'feedId' | 'dataKey' | 'endpointId'
>;

/** Creates the people, workflows, tools, hooks, schedules, feeds and endpoints of the workload. */
export async function furnish(cluster: Cluster, outside: Outside): Promise<Fixtures> {
  const baseUrl = cluster.directApiUrl;
  const people = await admitPeople(cluster);
  const post = (path: string, body: unknown) =>
    must(baseUrl, people.owner, { method: 'POST', path, body });
  const put = (path: string, body: unknown) =>
    must(baseUrl, people.owner, { method: 'PUT', path, body });

  // The free plan's quota would end a storm early.
  await put('/api/workspace/plan', { plan: 'enterprise' });
  for (const [name, retries] of [
    ['steady', 3],
    ['flaky', 1],
    ['narrow', 3],
    ['metered', 3],
  ] as const) {
    await post('/api/tools', {
      name,
      endpoint_url: outside.toolUrl(name),
      timeout_seconds: 8,
      retry_count: retries,
      input_schema: { type: 'object', properties: { act: { type: 'string' } }, required: ['act'] },
    });
  }
  await put('/api/workspace/policies', { limits: Object.values(CALL_LIMITS) });
  const described: [string, StormGraph][] = Object.entries(graphs(outside));
  const entries = await Promise.all(
    described.map(async ([name, { graph, checks, runCapUsd, limits }]) => {
      const workflow = await post('/api/workflows', { name, graph });
      if (runCapUsd !== undefined) {
        await put(`/api/workflows/${workflow.id}`, { run_cap_usd: runCapUsd });
      }
      if (checks !== undefined) await put(`/api/workflows/${workflow.id}/checks`, checks);
      if (limits !== undefined) await put(`/api/workflows/${workflow.id}/limits`, limits);
      return [name, workflow.id] as const;
    }),
  );
  const workflows = Object.fromEntries(entries) as World['workflows'];
  return {
    people,
    workflows,
    hook: await enableHook(baseUrl, people.owner, workflows.hooked),
    schedules: [
      {
        id: (await post('/api/schedules', schedule(workflows.scheduled, 'allow'))).id,
        overlap: 'allow',
      },
      {
        id: (await post('/api/schedules', schedule(workflows.scheduled, 'skip'))).id,
        overlap: 'skip',
      },
    ],
    ...(await furnishData(baseUrl, people.owner, outside)),
  };
}

const schedule = (workflowId: string, overlap: string) => ({
  workflow_id: workflowId,
  name: `every minute, ${overlap}`,
  cron: '* * * * *',
  overlap,
});

async function admitPeople(cluster: Cluster): Promise<World['people']> {
  const baseUrl = cluster.directApiUrl;
  const { ownerEmail, ownerPassword } = cluster.secrets;
  const login = { email: ownerEmail, password: ownerPassword };
  const session = await must(baseUrl, undefined, {
    method: 'POST',
    path: '/api/auth/login',
    body: login,
  });
  const owner = signedIn('owner', session);
  const post = (path: string, body: unknown, person?: Person) =>
    must(baseUrl, person, { method: 'POST', path, body });
  const invited = await post(
    '/api/members/invite',
    { name: 'Colleague', email: 'colleague@storm.test', role: 'admin' },
    owner,
  );
  const accepted = await post('/api/auth/accept-invite', {
    invite_code: invited.invite_code,
    password: 'another password of the storm',
  });
  const key = await post('/api/keys', { name: 'Program', role: 'admin' }, owner);
  return {
    owner,
    colleague: signedIn('colleague', accepted),
    program: { name: 'program', id: null, token: undefined, headers: { 'x-api-key': key.secret } },
  };
}

async function enableHook(
  baseUrl: string,
  owner: Person,
  workflowId: string,
): Promise<World['hook']> {
  const path = `/api/workflows/${workflowId}/webhook`;
  const { url } = await must(baseUrl, owner, { method: 'POST', path });
  await must(baseUrl, owner, {
    method: 'PUT',
    path: `${path}/config`,
    body: { require_signature: true, dedup_window_seconds: 3_600 },
  });
  const { pathname } = new URL(url);
  return { workflowId, path: pathname, secret: pathname.split('/').at(-1) ?? '' };
}

/** Endpoints are `good`, which fails sometimes, and `broken`, which always fails. */
async function furnishData(
  baseUrl: string,
  owner: Person,
  outside: Outside,
): Promise<Pick<World, 'feedId' | 'dataKey' | 'endpointId'>> {
  const post = (path: string, body: unknown, person = owner) =>
    must(baseUrl, person, { method: 'POST', path, body });
  const feed = await post('/api/data/feeds', { name: 'Storm', entity_types: ['project'] });
  const key = await post('/api/data/keys', {
    name: 'Reader',
    mode: 'live',
    scopes: [
      'entities:read',
      'events:read',
      'usage:read',
      'exports:create',
      'webhooks:write',
      'webhooks:read',
    ],
  });
  const dataKey: Person = {
    name: 'reader',
    id: null,
    token: undefined,
    headers: { authorization: `Bearer ${key.secret}` },
  };
  const events = {
    good: ['entity.created', 'entity.updated', 'intelligence_event.created', 'export.completed'],
    broken: ['intelligence_event.created'],
  };
  let endpointId = '';
  for (const [name, types] of Object.entries(events)) {
    const { data } = await post(
      '/v1/webhooks',
      { url: outside.endpointUrl(name), events: types },
      dataKey,
    );
    outside.learnSecret(name, data.secret);
    if (name === 'good') endpointId = data.id;
  }
  return { feedId: feed.id, dataKey, endpointId };
}
