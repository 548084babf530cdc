import { expect } from '@jest/globals';
import { z } from 'zod';
import { createCallbackTokens } from '#shared/crypto/callback-tokens.ts';
import { decideTokenHash } from '#shared/crypto/decide-tokens.ts';
import { newId, randomText } from '#shared/crypto/ids.ts';
import { type Pool, sql } from '#shared/db/pool.ts';
import { isConfirmedOrAsks } from '#shared/db/slack/people.ts';
import type { Json } from '#shared/json.ts';
import { type ListingServer, startListingServer } from '#test/fakes/listing-server.ts';

/** Settings of the service that some mutations need. */
export const mutationEnv = {
  ENCRYPTION_KEY: 'a key for the tests alone',
  SECRET_KEY: 'a secret for the tests alone',
  DELIVERY_BACKOFF_SECONDS: '0.01',
  CHAT_WEBHOOK_URL: 'http://127.0.0.1:9/',
};

/** Access to the service, to prepare a mutation. */
export interface MutationContext {
  /** Returns the body; throws unless the status is 2xx. Calls to the data API use a data API key. */
  call(method: string, url: string, payload?: unknown): Promise<any>;
  workspaceId: string;
  db: Pool;
  /** Waits until the run has this status. */
  until(runId: string, status: 'paused' | 'success' | 'failed'): Promise<void>;
}

/** A valid request to one route, and the audit entry that it must leave. */
export interface Mutation {
  url: string;
  body?: Json;
  /** The session token to use instead of the owner's. */
  token?: string;
  /** Additional headers. */
  headers?: Record<string, string>;
  entry: {
    action: string;
    target_type: string;
    target_id?: unknown;
    /** For entries without an actor. */
    actor_id?: null;
    actor_name?: null;
  };
  /** The actor's name, if the actor is the target of the entry. */
  by?: string;
}

/** The request of a client that has registered. */
async function authorizationRequest({ call }: MutationContext): Promise<Record<string, string>> {
  const redirect_uri = 'http://127.0.0.1:9/callback';
  const client = { client_name: 'Example', redirect_uris: [redirect_uri] };
  const { client_id } = await call('POST', '/api/oauth/register', client);
  return {
    ...{ client_id, redirect_uri, response_type: 'code' },
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  };
}

/** An account of Slack that has asked to be the caller's. */
async function slackAccount({ call, db, workspaceId }: MutationContext) {
  const { id: memberId } = await call('GET', '/api/auth/me');
  const claim = { workspaceId, memberId, teamId: 'T0DEMO', userId: 'U0ANN', name: 'Ann' };
  await isConfirmedOrAsks(db, claim);
  return { team_id: claim.teamId, user_id: claim.userId };
}

/** Routes that change nothing that anyone else sees, although their method suggests it; each with the reason. */
export const changeNothing: Record<
  string,
  (context: MutationContext) => Promise<Omit<Mutation, 'entry'>>
> = {
  // Only reads the saved graph.
  'POST /api/workflows/{id}/validate': async (context) => ({
    url: `/api/workflows/${await workflow(context)}/validate`,
  }),
  // Shows who asks for access.
  'POST /api/authorizations/preview': async (context) => ({
    url: '/api/authorizations/preview',
    body: { request: await authorizationRequest(context) },
  }),
  // Executes and reserves nothing.
  'POST /api/workflows/{id}/dry-run': async (context) => ({
    url: `/api/workflows/${await workflow(context)}/dry-run`,
    body: {},
  }),
  // Stores nothing, and reads no more than its creator.
  'POST /api/runs/{id}/stream-token': async (context) => ({
    url: `/api/runs/${await run(context, 'gated')}/stream-token`,
    body: { expires_in: 60 },
  }),
  // Pins are private to the caller, and no run uses them.
  'PUT /api/workflows/{id}/pins/{node_id}': async (context) => (await pinned(context)).pin,
  'DELETE /api/workflows/{id}/pins/{node_id}': async (context) => {
    const { pin } = await pinned(context);
    await context.call('PUT', pin.url, pin.body);
    return { url: pin.url };
  },
  // Views are private to the caller.
  'PUT /api/run-views/{name}': async () => runView,
  'DELETE /api/run-views/{name}': async ({ call }) => {
    await call('PUT', runView.url, runView.body);
    return { url: runView.url };
  },
  // A sign-in has an entry once it has ended.
  'POST /api/connections/{id}/authorize': async (context) => ({
    url: `/api/connections/${await connection(context)}/authorize`,
  }),
  // Programs that check emails can call it.
  'POST /api/decide/open': async (context) => ({
    url: '/api/decide/open',
    body: { token: (await linked(context)).token },
  }),
  // A session is a token that the service does not store.
  'POST /api/auth/login': async (context) => {
    const { email } = await signedIn(context);
    return { url: '/api/auth/login', body: { email, password } };
  },
};

const graphs = {
  plain: { nodes: [{ id: 'a', kind: 'agent', mock: { output: 'x' } }], edges: [] },
  gated: { nodes: [{ id: 'gate', kind: 'human_gate', prompt: 'Go on?' }], edges: [] },
  failing: { nodes: [{ id: 'a', kind: 'agent', mock: { output: 'x', fail_times: 1 } }], edges: [] },
  costly: {
    nodes: [
      { id: 'a', kind: 'agent', mock: { cost_usd: 0.02 } },
      { id: 'b', kind: 'agent', mock: {} },
    ],
    edges: [{ source: 'a', target: 'b' }],
  },
} satisfies Record<string, Json>;

/** A run that waits at a gate, and the link that was mailed to a member. */
const linked = async (context: MutationContext) => {
  const { call, db, workspaceId } = context;
  await call('PUT', '/api/workspace/alerts', { decide_by_link: true, accept_link_risk: true });
  const runId = await run(context, 'gated');
  await context.until(runId, 'paused');
  const { digest } = await call('GET', `/api/runs/${runId}/gates/gate`);
  const token = randomText(43);
  const memberId = (await call('GET', '/api/members')).find((each: any) => each.is_owner).id;
  await db.query(sql.unsafe`
    INSERT INTO decide_links (id, token_hash, workspace_id, alert, member_id, run_id, step_key, round, opened_at, generation,
                              expires_at)
    SELECT ${newId('decideLink')}, ${sql.binary(decideTokenHash(token))}, ${workspaceId}, ${token}, ${memberId}, g.run_id,
           g.step_key, g.round, g.opened_at, a.link_generation, now() + interval '1 day'
    FROM gates g JOIN workspace_alerts a ON a.workspace_id = ${workspaceId} WHERE g.run_id = ${runId}`);
  return { token, digest: digest as string, runId };
};

const runView = { url: '/api/run-views/Failed', body: { filter: 'status=failed' } };
const dataKey = { name: 'Example', mode: 'live', scopes: ['usage:read'] };
const largeBudget = { name: 'Example', limit_usd: 1_000 };

const workflow = async (
  { call }: MutationContext,
  graph: keyof typeof graphs = 'plain',
): Promise<string> =>
  (await call('POST', '/api/workflows', { name: 'Example', graph: graphs[graph] })).id;

/** A workflow with a run that has ended, and an experiment that lasts until it is cancelled. */
const experiment = async (context: MutationContext) => {
  const id = await workflow(context);
  const { id: runId } = await context.call('POST', `/api/workflows/${id}/runs`, {});
  await context.until(runId, 'success');
  const mock = { output: 'y', delay_ms: 3_600_000 };
  const graph = { nodes: [{ id: 'a', kind: 'agent', prompt: 'Other', mock }], edges: [] };
  await context.call('PUT', `/api/workflows/${id}/draft`, { graph });
  return { id, body: { candidate: 'draft', runs: [runId], allow: ['agent'] } };
};

/** A workflow with an event that its webhook received. */
const receivedEvent = async (context: MutationContext) => {
  const id = await workflow(context);
  const { url } = await context.call('POST', `/api/workflows/${id}/webhook`);
  await context.call('POST', new URL(url as string).pathname, { ticket: 'x' });
  const { events } = await context.call('GET', `/api/workflows/${id}/inbound-events`);
  return { id, eventId: events[0].id as string };
};
/** A background job that lasts, in place of the former one: a copy of one that was started, without an execution. */
const lastingJob = async (
  { call, db }: MutationContext,
  url: string,
  body: Json,
): Promise<string> => {
  const { id } = await call('POST', url, body);
  return db.oneFirst(sql.type(z.object({ id: z.string() }))`
    WITH former AS (
      UPDATE background_jobs SET status = 'cancelled', finished_at = now()
      WHERE status = 'running' AND id <> ${id} AND kind = (SELECT kind FROM background_jobs WHERE id = ${id}))
    INSERT INTO background_jobs (id, workspace_id, kind, request, created_by, created_by_name)
    SELECT ${newId('job')}, workspace_id, kind, request, created_by, created_by_name
    FROM background_jobs WHERE id = ${id} RETURNING id`);
};

const refusedEvents = { since: '2026-01-01' };

/** A unique name, and an address where no server listens. */
const closedTool = () => ({ name: `t${randomText(10)}`, endpoint_url: 'http://127.0.0.1:9/' });
const tool = async ({ call }: MutationContext): Promise<string> =>
  (await call('POST', '/api/tools', closedTool())).id;

const anyParameter = { name: 'page', in: 'query', schema: { type: 'integer' } };
/** A tool of an API document with one operation, and the document. */
async function operationTool({ call }: MutationContext) {
  const openapi = {
    openapi: '3.1.0',
    info: { title: 'Shop', version: '1' },
    servers: [{ url: 'https://api.example.com' }],
    paths: { '/orders': { get: { responses: {} } } },
  };
  const body = { openapi, prefix: `t${randomText(10)}_` };
  const { created } = await call('POST', '/api/tools/import', body);
  return { id: created[0].id as string, openapi };
}

/** A workflow with a draft, and the headers to change that. */
const draft = async (context: MutationContext) => {
  const id = await workflow(context);
  const body = { graph: graphs.gated };
  const { etag } = await context.call('PUT', `/api/workflows/${id}/draft`, body);
  return { id, headers: { 'if-match': `"${etag}"` } };
};

let listing: Promise<ListingServer> | undefined;
/** Lists one tool. It ends with the process. */
const mcpServerUrl = async (): Promise<string> => {
  const tools = [{ name: 'add', inputSchema: { type: 'object' } }];
  const server = await (listing ??= startListingServer(tools));
  server.unref();
  return `${server.url}/mcp`;
};

const run = async (context: MutationContext, graph: keyof typeof graphs): Promise<string> =>
  (await context.call('POST', `/api/workflows/${await workflow(context, graph)}/runs`, {})).id;

const failed = async (context: MutationContext) => {
  const workflow_id = await workflow(context, 'failing');
  const { id } = await context.call('POST', `/api/workflows/${workflow_id}/runs`, {});
  await context.until(id, 'failed');
  return { id, workflow_id };
};

const pinned = async (context: MutationContext) => {
  const id = await run(context, 'plain');
  await context.until(id, 'success');
  const { workflow_id } = await context.call('GET', `/api/runs/${id}`);
  return { pin: { url: `/api/workflows/${workflow_id}/pins/a`, body: { run_id: id } } };
};

const trigger = async (context: MutationContext): Promise<{ id: string; workflow_id: string }> =>
  context.call('POST', `/api/workflows/${await workflow(context)}/triggers`, {
    event: 'x.happened',
  });

const schedule = async (context: MutationContext): Promise<{ id: string; workflow_id: string }> =>
  context.call('POST', '/api/schedules', {
    workflow_id: await workflow(context),
    cron: '0 0 1 1 *',
  });
const template = async ({ call }: MutationContext): Promise<string> =>
  (await call('POST', '/api/templates', { name: 'Example', graph: graphs.plain })).id;

const onWorkflow = (action: string, id: string) => ({
  action,
  target_type: 'workflow',
  target_id: id,
});
const onMember = (action: string, id: string) => ({
  action,
  target_type: 'member',
  target_id: id,
});
const newConnection = () => ({
  name: `C${randomText(10).toUpperCase()}`,
  authorization_url: 'https://login.example.com/authorize',
  token_url: 'https://login.example.com/token',
  client_id: 'example',
  client_secret: 'a secret of this test',
  allowed_hosts: ['api.example.com'],
});
const connection = async ({ call }: MutationContext): Promise<string> =>
  (await call('POST', '/api/connections', newConnection())).id;
const onConnection = (action: string, id: unknown) => ({
  action,
  target_type: 'connection',
  target_id: id,
});
const onTool = (action: string, id: unknown) => ({ action, target_type: 'tool', target_id: id });
const onRun = (action: string, id: string) => ({ action, target_type: 'run', target_id: id });

const feed = async ({ call }: MutationContext): Promise<string> =>
  (await call('POST', '/api/data/feeds', { name: 'Example' })).id;
const newSource = () => ({ name: `s${randomText(10)}`, type: 'portal' });
const source = async ({ call }: MutationContext): Promise<string> =>
  (await call('POST', '/api/data/sources', newSource())).id;
const onFeed = (action: string, id: string) => ({ action, target_type: 'feed', target_id: id });
const onSource = (action: string, id: string) => ({ action, target_type: 'source', target_id: id });

/** No server listens at this address, so deliveries become dead letters soon. */
const endpointInput = { url: 'http://127.0.0.1:9/', events: ['entity.created'] };
const endpoint = async ({ call }: MutationContext): Promise<string> =>
  (await call('POST', '/v1/webhooks', endpointInput)).data.id;
const deadLetter = async (
  context: MutationContext,
): Promise<{ id: string; endpointId: string }> => {
  const endpointId = await endpoint(context);
  const { data } = await context.call('POST', `/v1/webhooks/${endpointId}/ping`);
  for (;;) {
    const dead = await context.call('GET', `/v1/webhooks/${endpointId}/deliveries?status=dead`);
    if (dead.data.length > 0) return { id: data.id, endpointId };
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
};
const onEndpoint = (action: string, id: string) => ({
  action,
  target_type: 'data_webhook',
  target_id: id,
});

/** The mutations of webhook endpoints by members, at one of their addresses. */
const endpointMutations = (
  base: string,
): Record<string, (context: MutationContext) => Promise<Mutation>> => ({
  [`POST ${base}`]: async () => ({
    url: base,
    body: endpointInput,
    entry: { action: 'data_webhook_create', target_type: 'data_webhook' },
  }),
  [`PUT ${base}/{id}`]: async (context) => {
    const id = await endpoint(context);
    return {
      url: `${base}/${id}`,
      body: { events: ['source.failed'] },
      entry: onEndpoint('data_webhook_update', id),
    };
  },
  [`DELETE ${base}/{id}`]: async (context) => {
    const id = await endpoint(context);
    return { url: `${base}/${id}`, entry: onEndpoint('data_webhook_delete', id) };
  },
  [`POST ${base}/{id}/ping`]: async (context) => {
    const id = await endpoint(context);
    return { url: `${base}/${id}/ping`, entry: onEndpoint('data_webhook_ping', id) };
  },
  [`POST ${base}/{id}/rotate-secret`]: async (context) => {
    const id = await endpoint(context);
    return {
      url: `${base}/${id}/rotate-secret`,
      entry: onEndpoint('data_webhook_rotate', id),
    };
  },
  [`POST ${base}/{id}/deliveries/{delivery_id}/redeliver`]: async (context) => {
    const { id, endpointId } = await deadLetter(context);
    return {
      url: `${base}/${endpointId}/deliveries/${id}/redeliver`,
      entry: onEndpoint('data_webhook_redeliver', endpointId),
    };
  },
  [`POST ${base}/{id}/redeliver`]: async (context) => {
    const { endpointId } = await deadLetter(context);
    return {
      url: `${base}/${endpointId}/redeliver`,
      body: { since: '2026-01-01T00:00:00Z' },
      entry: onEndpoint('data_webhook_redeliver_all', endpointId),
    };
  },
});

let invited = 0;
const invitation = (): Json => {
  invited += 1;
  return { name: 'Example', email: `example-${invited}@example.com`, role: 'viewer' };
};
const member = async ({ call }: MutationContext): Promise<string> =>
  (await call('POST', '/api/members/invite', invitation())).id;

const password = 'correct horse battery';
const signedIn = async ({
  call,
}: MutationContext): Promise<{ id: string; email: string; token: string }> => {
  const { id, email, invite_code } = await call('POST', '/api/members/invite', invitation());
  const { token } = await call('POST', '/api/auth/accept-invite', { invite_code, password });
  return { id, email, token };
};

const roleChange = async (context: MutationContext): Promise<Mutation> => {
  const id = await member(context);
  return {
    url: `/api/members/${id}`,
    body: { role: 'editor' },
    entry: onMember('role_change', id),
  };
};
const permissionsChange = async (context: MutationContext): Promise<Mutation> => {
  const id = await member(context);
  return {
    url: `/api/members/${id}/permissions`,
    body: { overrides: { run_workflows: true } },
    entry: onMember('permissions_change', id),
  };
};

/**
 * How to call each route that changes something, by method and path as in the OpenAPI document. The test fails for a
 * route without an entry here: add one with the route.
 */
export const mutations: Record<string, (context: MutationContext) => Promise<Mutation>> = {
  'POST /api/data/feeds': async () => ({
    url: '/api/data/feeds',
    body: { name: 'New' },
    entry: { action: 'create', target_type: 'feed' },
  }),
  'PUT /api/data/feeds/{id}': async (context) => {
    const id = await feed(context);
    return {
      url: `/api/data/feeds/${id}`,
      body: { status: 'paused' },
      entry: onFeed('update', id),
    };
  },
  'DELETE /api/data/feeds/{id}': async (context) => {
    const id = await feed(context);
    return { url: `/api/data/feeds/${id}`, entry: onFeed('delete', id) };
  },
  'POST /api/data/sources': async () => ({
    url: '/api/data/sources',
    body: newSource(),
    entry: { action: 'create', target_type: 'source' },
  }),
  'PUT /api/data/sources/{id}': async (context) => {
    const id = await source(context);
    return {
      url: `/api/data/sources/${id}`,
      body: { cadence: 'daily' },
      entry: onSource('update', id),
    };
  },
  'DELETE /api/data/sources/{id}': async (context) => {
    const id = await source(context);
    return { url: `/api/data/sources/${id}`, entry: onSource('delete', id) };
  },
  'POST /api/data/sources/{id}/report': async (context) => {
    const id = await source(context);
    return {
      url: `/api/data/sources/${id}/report`,
      body: { ok: true },
      entry: onSource('report', id),
    };
  },
  'POST /api/data/ingest': async (context) => {
    const id = await feed(context);
    return {
      url: '/api/data/ingest',
      body: { feed_id: id, records: [] },
      entry: onFeed('data_ingest', id),
    };
  },
  'POST /api/workflows': async () => ({
    url: '/api/workflows',
    body: { name: 'New' },
    entry: { action: 'create', target_type: 'workflow' },
  }),
  'PUT /api/workflows/{id}': async (context) => {
    const id = await workflow(context);
    return {
      url: `/api/workflows/${id}`,
      body: { graph: graphs.gated },
      entry: onWorkflow('update', id),
    };
  },
  'DELETE /api/workflows/{id}': async (context) => {
    const id = await workflow(context);
    return { url: `/api/workflows/${id}`, entry: onWorkflow('delete', id) };
  },
  'POST /api/workflows/{id}/publish': async (context) => {
    const id = await workflow(context);
    return { url: `/api/workflows/${id}/publish`, entry: onWorkflow('publish', id) };
  },
  'PUT /api/workflows/{id}/draft': async (context) => {
    const id = await workflow(context);
    return {
      url: `/api/workflows/${id}/draft`,
      body: { graph: graphs.gated },
      entry: onWorkflow('save_draft', id),
    };
  },
  'DELETE /api/workflows/{id}/draft': async (context) => {
    const { id, headers } = await draft(context);
    const url = `/api/workflows/${id}/draft`;
    return { url, headers, entry: onWorkflow('discard_draft', id) };
  },
  'PUT /api/workflows/{id}/checks': async (context) => {
    const id = await workflow(context);
    return {
      url: `/api/workflows/${id}/checks`,
      body: [{ name: 'fast', type: 'max_duration_ms', value: 5 }],
      entry: onWorkflow('update', id),
    };
  },
  'POST /api/workflows/{id}/runs': async (context) => {
    const id = await workflow(context);
    return {
      url: `/api/workflows/${id}/runs`,
      body: { ticket: 'x' },
      entry: onWorkflow('run', id),
    };
  },
  'POST /api/workflows/{id}/webhook': async (context) => {
    const id = await workflow(context);
    return { url: `/api/workflows/${id}/webhook`, entry: onWorkflow('webhook_enable', id) };
  },
  'DELETE /api/workflows/{id}/webhook': async (context) => {
    const id = await workflow(context);
    await context.call('POST', `/api/workflows/${id}/webhook`);
    return { url: `/api/workflows/${id}/webhook`, entry: onWorkflow('webhook_disable', id) };
  },
  'PUT /api/workflows/{id}/webhook/config': async (context) => {
    const id = await workflow(context);
    return {
      url: `/api/workflows/${id}/webhook/config`,
      body: { dedup_window_seconds: 60 },
      entry: onWorkflow('webhook_config', id),
    };
  },
  'POST /api/hooks/{workflow_id}/{secret}': async (context) => {
    const id = await workflow(context);
    const { url } = await context.call('POST', `/api/workflows/${id}/webhook`);
    return {
      url: new URL(url as string).pathname,
      body: { ticket: 'x' },
      entry: { ...onWorkflow('webhook_run', id), actor_id: null, actor_name: null },
    };
  },
  'POST /api/callbacks/{token}': async (context) => {
    const id = await run(context, 'gated');
    await context.until(id, 'paused');
    const tokens = createCallbackTokens({ encryptionKey: mutationEnv.ENCRYPTION_KEY })!;
    return {
      url: `/api/callbacks/${tokens.tokenOf({ runId: id, stepKey: 'paid' })}`,
      body: { amount: 3 },
      entry: { ...onRun('callback_receive', id), actor_id: null, actor_name: null },
    };
  },
  'POST /api/runs/{id}/approve': async (context) => {
    const id = await run(context, 'gated');
    await context.until(id, 'paused');
    return {
      url: `/api/runs/${id}/approve`,
      body: { approved: true },
      entry: onRun('approve', id),
    };
  },
  'POST /api/decide': async (context) => {
    const { token, digest, runId } = await linked(context);
    return {
      url: '/api/decide',
      body: { token, digest, decision: 'approve' },
      entry: onRun('approve', runId),
    };
  },
  'POST /api/runs/{id}/assign': async (context) => {
    const id = await run(context, 'gated');
    await context.until(id, 'paused');
    const {
      eligible_members: [member],
    } = await context.call('GET', `/api/runs/${id}/gates/gate`);
    return {
      url: `/api/runs/${id}/assign`,
      body: { member_id: member?.id },
      entry: onRun('assign', id),
    };
  },
  'POST /api/runs/{id}/cancel': async (context) => {
    const id = await run(context, 'gated');
    await context.until(id, 'paused');
    return { url: `/api/runs/${id}/cancel`, entry: onRun('cancel', id) };
  },
  'POST /api/runs/{id}/resume': async (context) => {
    const id = await run(context, 'failing');
    await context.until(id, 'failed');
    return { url: `/api/runs/${id}/resume`, entry: onRun('resume', id) };
  },
  'POST /api/runs/{id}/rerun': async (context) => {
    const { id, workflow_id } = await failed(context);
    return { url: `/api/runs/${id}/rerun`, body: {}, entry: onWorkflow('rerun', workflow_id) };
  },
  'POST /api/runs/{id}/fork': async (context) => {
    const { id, workflow_id } = await failed(context);
    return {
      url: `/api/runs/${id}/fork`,
      body: { from_step: 'a' },
      entry: onWorkflow('fork', workflow_id),
    };
  },
  'POST /api/workflows/{id}/nodes/{node_id}/test': async (context) => {
    const id = await workflow(context);
    return {
      url: `/api/workflows/${id}/nodes/a/test`,
      body: { state: {}, allow: ['agent'] },
      entry: onWorkflow('run', id),
    };
  },
  'PUT /api/workspace': async ({ workspaceId }) => ({
    url: '/api/workspace',
    body: { name: 'Renamed' },
    entry: { action: 'update', target_type: 'workspace', target_id: workspaceId },
  }),
  'PUT /api/workspace/plan': async ({ workspaceId }) => ({
    url: '/api/workspace/plan',
    body: { plan: 'starter' },
    entry: { action: 'plan_change', target_type: 'workspace', target_id: workspaceId },
  }),
  'POST /api/workspace/plan': async ({ workspaceId }) => ({
    url: '/api/workspace/plan',
    body: { plan: 'enterprise' },
    entry: { action: 'plan_change', target_type: 'workspace', target_id: workspaceId },
  }),
  'PUT /api/workspace/alerts': async ({ workspaceId }) => ({
    url: '/api/workspace/alerts',
    body: { on: ['failed'] },
    entry: { action: 'alerts_update', target_type: 'workspace', target_id: workspaceId },
  }),
  // No server listens there; only the worker finds out.
  'POST /api/workspace/alerts/test': async ({ workspaceId }) => ({
    url: '/api/workspace/alerts/test',
    entry: { action: 'alert_test', target_type: 'workspace', target_id: workspaceId },
  }),
  'POST /api/runs/{id}/budget-override': async (context) => {
    const id = await workflow(context, 'costly');
    await context.call('PUT', `/api/workflows/${id}`, { run_cap_usd: 0.01 });
    const runId = (await context.call('POST', `/api/workflows/${id}/runs`, {})).id;
    await context.until(runId, 'failed');
    return {
      url: `/api/runs/${runId}/budget-override`,
      body: { approved: true, reason: 'needed' },
      entry: onRun('budget_override', runId),
    };
  },
  'POST /api/budgets': async () => ({
    url: '/api/budgets',
    body: largeBudget,
    entry: { action: 'create', target_type: 'budget' },
  }),
  'PUT /api/budgets/{id}': async (context) => {
    const { id } = await context.call('POST', '/api/budgets', largeBudget);
    return {
      url: `/api/budgets/${id}`,
      body: { limit_usd: 2_000 },
      entry: { action: 'update', target_type: 'budget', target_id: id },
    };
  },
  'DELETE /api/budgets/{id}': async (context) => {
    const { id } = await context.call('POST', '/api/budgets', largeBudget);
    return {
      url: `/api/budgets/${id}`,
      entry: { action: 'delete', target_type: 'budget', target_id: id },
    };
  },
  'POST /api/tools': async () => ({
    url: '/api/tools',
    body: closedTool(),
    entry: { action: 'create', target_type: 'tool' },
  }),
  'PUT /api/secrets/{name}': async () => ({
    url: '/api/secrets/CRM_API_KEY',
    body: { value: 'a value of this test', allowed_hosts: ['api.example.com'] },
    entry: { action: 'create', target_type: 'secret', target_id: 'CRM_API_KEY' },
  }),
  'DELETE /api/secrets/{name}': async ({ call }) => {
    const url = '/api/secrets/OLD_API_KEY';
    await call('PUT', url, { value: 'a value of this test', allowed_hosts: ['a.example'] });
    return { url, entry: { action: 'delete', target_type: 'secret', target_id: 'OLD_API_KEY' } };
  },
  'POST /api/connections': async () => ({
    url: '/api/connections',
    body: newConnection(),
    entry: onConnection('create', expect.stringMatching(/^con_/)),
  }),
  'PUT /api/connections/{id}': async (context) => {
    const id = await connection(context);
    const url = `/api/connections/${id}`;
    return { url, body: { scopes: ['write'] }, entry: onConnection('update', id) };
  },
  'DELETE /api/connections/{id}': async (context) => {
    const id = await connection(context);
    return { url: `/api/connections/${id}`, entry: onConnection('delete', id) };
  },
  'POST /api/connections/{id}/disconnect': async (context) => {
    const id = await connection(context);
    return { url: `/api/connections/${id}/disconnect`, entry: onConnection('disconnect', id) };
  },
  'POST /api/events': async () => ({
    url: '/api/events',
    body: { name: 'invoice.paid', data: { invoice: 'A-1' } },
    entry: {
      action: 'event_send',
      target_type: 'event',
      target_id: expect.stringMatching(/^evt_/),
    },
  }),
  'POST /api/tools/import': async () => ({
    url: '/api/tools/import',
    body: { server_url: await mcpServerUrl(), prefix: `t${randomText(10)}_` },
    entry: onTool('create', expect.stringMatching(/^tool_/)),
  }),
  'POST /api/tools/{id}/refresh': async (context) => {
    const { id, openapi } = await operationTool(context);
    const paths = { '/orders': { get: { responses: {}, parameters: [anyParameter] } } };
    return {
      url: `/api/tools/${id}/refresh`,
      body: { openapi: { ...openapi, paths } },
      entry: onTool('update', id),
    };
  },
  'PUT /api/tools/{id}': async (context) => {
    const id = await tool(context);
    return { url: `/api/tools/${id}`, body: { label: 'New' }, entry: onTool('update', id) };
  },
  'DELETE /api/tools/{id}': async (context) => {
    const id = await tool(context);
    return { url: `/api/tools/${id}`, entry: onTool('delete', id) };
  },
  // No server listens there; the response reports it.
  'POST /api/tools/{id}/test': async (context) => {
    const id = await tool(context);
    return { url: `/api/tools/${id}/test`, body: {}, entry: onTool('test', id) };
  },
  'POST /api/schedules': async (context) => {
    const id = await workflow(context);
    return {
      url: '/api/schedules',
      body: { workflow_id: id, cron: '@yearly' },
      entry: onWorkflow('schedule_create', id),
    };
  },
  'PUT /api/schedules/{id}': async (context) => {
    const { id, workflow_id: workflowId } = await schedule(context);
    return {
      url: `/api/schedules/${id}`,
      body: { enabled: false },
      entry: onWorkflow('schedule_update', workflowId),
    };
  },
  'DELETE /api/schedules/{id}': async (context) => {
    const { id, workflow_id: workflowId } = await schedule(context);
    return { url: `/api/schedules/${id}`, entry: onWorkflow('schedule_delete', workflowId) };
  },
  'POST /api/schedules/{id}/trigger': async (context) => {
    const { id, workflow_id: workflowId } = await schedule(context);
    return {
      url: `/api/schedules/${id}/trigger`,
      entry: onWorkflow('schedule_run', workflowId),
    };
  },
  'POST /api/workflows/{id}/triggers': async (context) => {
    const id = await workflow(context);
    return {
      url: `/api/workflows/${id}/triggers`,
      body: { event: 'x.happened' },
      entry: onWorkflow('trigger_create', id),
    };
  },
  'PUT /api/triggers/{id}': async (context) => {
    const { id, workflow_id: workflowId } = await trigger(context);
    return {
      url: `/api/triggers/${id}`,
      body: { enabled: false },
      entry: onWorkflow('trigger_update', workflowId),
    };
  },
  'PUT /api/workflows/{id}/limits': async (context) => {
    const id = await workflow(context);
    return {
      url: `/api/workflows/${id}/limits`,
      body: { concurrency: { limit: 1 } },
      entry: onWorkflow('limits_update', id),
    };
  },
  'DELETE /api/triggers/{id}': async (context) => {
    const { id, workflow_id: workflowId } = await trigger(context);
    return { url: `/api/triggers/${id}`, entry: onWorkflow('trigger_delete', workflowId) };
  },
  'POST /api/keys': async () => ({
    url: '/api/keys',
    body: { name: 'Example', role: 'viewer' },
    entry: { action: 'create', target_type: 'api_key' },
  }),
  'DELETE /api/keys/{id}': async ({ call }) => {
    const { id } = await call('POST', '/api/keys', { name: 'Example', role: 'viewer' });
    return {
      url: `/api/keys/${id}`,
      entry: { action: 'revoke', target_type: 'api_key', target_id: id },
    };
  },
  'POST /api/authorizations': async (context) => ({
    url: '/api/authorizations',
    body: { request: await authorizationRequest(context), scopes: ['view'] },
    entry: {
      action: 'authorize',
      target_type: 'authorization',
      target_id: expect.any(String),
    },
  }),
  'DELETE /api/authorizations/{id}': async (context) => {
    const request = await authorizationRequest(context);
    const { authorization } = await context.call('POST', '/api/authorizations', {
      request,
      scopes: ['view'],
    });
    return {
      url: `/api/authorizations/${authorization.id}`,
      entry: {
        action: 'authorization_revoke',
        target_type: 'authorization',
        target_id: authorization.id,
      },
    };
  },
  'POST /api/slack/account': async (context) => {
    const account = await slackAccount(context);
    return {
      url: '/api/slack/account',
      body: account,
      entry: { action: 'slack_confirm', target_type: 'member', target_id: expect.any(String) },
    };
  },
  'DELETE /api/slack/account': async (context) => {
    await context.call('POST', '/api/slack/account', await slackAccount(context));
    return {
      url: '/api/slack/account',
      entry: { action: 'slack_remove', target_type: 'member', target_id: expect.any(String) },
    };
  },
  'POST /v1/exports': async () => ({
    url: '/v1/exports',
    body: { kind: 'entities', format: 'json' },
    entry: { action: 'data_export', target_type: 'export', target_id: expect.any(String) },
  }),
  'POST /v1/webhooks': async () => ({
    url: '/v1/webhooks',
    body: endpointInput,
    entry: { action: 'data_webhook_create', target_type: 'data_webhook' },
  }),
  'DELETE /v1/webhooks/{id}': async (context) => {
    const id = await endpoint(context);
    return { url: `/v1/webhooks/${id}`, entry: onEndpoint('data_webhook_delete', id) };
  },
  'POST /v1/webhooks/{id}/ping': async (context) => {
    const id = await endpoint(context);
    return { url: `/v1/webhooks/${id}/ping`, entry: onEndpoint('data_webhook_ping', id) };
  },
  'POST /v1/webhooks/{id}/rotate-secret': async (context) => {
    const id = await endpoint(context);
    return {
      url: `/v1/webhooks/${id}/rotate-secret`,
      entry: onEndpoint('data_webhook_rotate', id),
    };
  },
  'POST /v1/webhooks/{id}/deliveries/{delivery_id}/redeliver': async (context) => {
    const { id, endpointId } = await deadLetter(context);
    return {
      url: `/v1/webhooks/${endpointId}/deliveries/${id}/redeliver`,
      entry: onEndpoint('data_webhook_redeliver', endpointId),
    };
  },
  'POST /v1/webhooks/{id}/redeliver': async (context) => {
    const { endpointId } = await deadLetter(context);
    return {
      url: `/v1/webhooks/${endpointId}/redeliver`,
      body: { since: '2026-01-01T00:00:00Z' },
      entry: onEndpoint('data_webhook_redeliver_all', endpointId),
    };
  },
  ...endpointMutations('/api/webhooks'),
  'POST /api/data/keys': async () => ({
    url: '/api/data/keys',
    body: dataKey,
    entry: { action: 'create', target_type: 'data_key' },
  }),
  'DELETE /api/data/keys/{id}': async ({ call }) => {
    const { id } = await call('POST', '/api/data/keys', dataKey);
    return {
      url: `/api/data/keys/${id}`,
      entry: { action: 'revoke', target_type: 'data_key', target_id: id },
    };
  },
  'PUT /api/workspace/policies': async ({ workspaceId }) => ({
    url: '/api/workspace/policies',
    body: { model_allowlist: null },
    entry: { action: 'policy_update', target_type: 'workspace', target_id: workspaceId },
  }),
  'POST /api/workspace/policies/backtest': async ({ workspaceId }) => ({
    url: '/api/workspace/policies/backtest',
    body: { policies: { model_allowlist: [] }, since: '2026-01-01' },
    entry: { action: 'policy_backtest', target_type: 'workspace', target_id: workspaceId },
  }),
  'POST /api/workspace/policies/backtest/{id}/cancel': async (context) => {
    const url = '/api/workspace/policies/backtest';
    const id = await lastingJob(context, url, { policies: {}, since: '2026-01-01' });
    return {
      url: `${url}/${id}/cancel`,
      entry: {
        action: 'policy_backtest_cancel',
        target_type: 'workspace',
        target_id: context.workspaceId,
      },
    };
  },
  'POST /api/inbound-events/{id}/replay': async (context) => {
    const { id, eventId } = await receivedEvent(context);
    return {
      url: `/api/inbound-events/${eventId}/replay`,
      body: {},
      entry: { action: 'webhook_replay', target_type: 'workflow', target_id: id },
    };
  },
  'POST /api/workflows/{id}/inbound-events/replay': async (context) => {
    const { id } = await receivedEvent(context);
    return {
      url: `/api/workflows/${id}/inbound-events/replay`,
      body: refusedEvents,
      entry: { action: 'webhook_replay_all', target_type: 'workflow', target_id: id },
    };
  },
  'POST /api/event-replays/{id}/cancel': async (context) => {
    const { id } = await receivedEvent(context);
    const url = `/api/workflows/${id}/inbound-events/replay`;
    return {
      url: `/api/event-replays/${await lastingJob(context, url, refusedEvents)}/cancel`,
      entry: { action: 'webhook_replay_cancel', target_type: 'workflow', target_id: id },
    };
  },
  'POST /api/workflows/{id}/experiments': async (context) => {
    const { id, body } = await experiment(context);
    return {
      url: `/api/workflows/${id}/experiments`,
      body,
      entry: { action: 'experiment', target_type: 'workflow', target_id: id },
    };
  },
  'POST /api/experiments/{id}/cancel': async (context) => {
    const { id, body } = await experiment(context);
    const { id: jobId } = await context.call('POST', `/api/workflows/${id}/experiments`, body);
    return {
      url: `/api/experiments/${jobId}/cancel`,
      entry: { action: 'experiment_cancel', target_type: 'workflow', target_id: id },
    };
  },
  'PUT /api/workspace/prices': async ({ workspaceId }) => ({
    url: '/api/workspace/prices',
    body: { prices: [] },
    entry: { action: 'price_update', target_type: 'workspace', target_id: workspaceId },
  }),
  'POST /api/auth/signup': async () => ({
    url: '/api/auth/signup',
    body: { name: 'Example', email: 'mutation@example.com', password },
    entry: { action: 'signup', target_type: 'member' },
    by: 'Example',
  }),
  'POST /api/auth/accept-invite': async ({ call }) => {
    const { id, invite_code } = await call('POST', '/api/members/invite', invitation());
    return {
      url: '/api/auth/accept-invite',
      body: { invite_code, password },
      entry: onMember('accept_invite', id),
      by: 'Example',
    };
  },
  'POST /api/auth/password': async (context) => {
    const { id, token } = await signedIn(context);
    return {
      url: '/api/auth/password',
      body: { current_password: password, new_password: 'another horse battery' },
      token,
      entry: onMember('password_change', id),
      by: 'Example',
    };
  },
  'POST /api/members/invite': async () => ({
    url: '/api/members/invite',
    body: invitation(),
    entry: { action: 'invite', target_type: 'member' },
  }),
  'PATCH /api/members/{id}': roleChange,
  'PUT /api/members/{id}': roleChange,
  'PATCH /api/members/{id}/permissions': permissionsChange,
  'PUT /api/members/{id}/permissions': permissionsChange,
  'POST /api/members/{id}/invite': async (context) => {
    const id = await member(context);
    return { url: `/api/members/${id}/invite`, entry: onMember('invite_renew', id) };
  },
  'POST /api/members/{id}/approve': async ({ call }) => {
    const { id } = await call('POST', '/api/auth/signup', {
      name: 'Example',
      email: `pending-${randomText(10)}@example.com`,
      password: 'correct horse battery',
    });
    return { url: `/api/members/${id}/approve`, entry: onMember('approve_member', id) };
  },
  'DELETE /api/members/{id}': async (context) => {
    const id = await member(context);
    return { url: `/api/members/${id}`, entry: onMember('remove', id) };
  },
  'POST /api/templates': async () => ({
    url: '/api/templates',
    body: { name: 'Example', graph: graphs.plain },
    entry: { action: 'create', target_type: 'template' },
  }),
  'PUT /api/templates/{id}': async (context) => {
    const id = await template(context);
    return {
      url: `/api/templates/${id}`,
      body: { name: 'Renamed' },
      entry: { action: 'update', target_type: 'template', target_id: id },
    };
  },
  'DELETE /api/templates/{id}': async (context) => {
    const id = await template(context);
    return {
      url: `/api/templates/${id}`,
      entry: { action: 'delete', target_type: 'template', target_id: id },
    };
  },
  'POST /api/templates/{id}/instantiate': async (context) => ({
    url: `/api/templates/${await template(context)}/instantiate`,
    body: { name: 'From a template' },
    entry: { action: 'create', target_type: 'workflow' },
  }),
  'POST /api/mcp': async (context) => {
    const id = await workflow(context);
    return {
      url: '/api/mcp',
      body: {
        jsonrpc: '2.0',
        id: 1,
        method: 'tools/call',
        params: { name: 'run_workflow', arguments: { workflow: id } },
      },
      entry: onWorkflow('run', id),
    };
  },
};
