import { eventually } from '#test/support/engine.ts';
import type { Stage } from './browser.ts';

/** Hostile names and outputs. All of them must be rendered as text. */
export const hostile = {
  script: `<script>window.owned=1</script><img src=x onerror="window.owned=1">`,
  /** Reverses the text after it, in a browser that applies it. */
  turned: 'report\u202Efdp.exe',
  link: 'javascript:window.owned=1',
  long: 'W'.repeat(180),
  megabyte: `<b>${'lorem ipsum '.repeat(80_000)}</b>`,
};

/** The ids of one resource of each kind. */
export interface Everything {
  workflowId: string;
  /** A successful run. */
  runId: string;
  failedRunId: string;
  sentEventId: string;
  pausedRunId: string;
  gateNodeId: string;
  /** A run with an agent, `triage`, that waits for the approval of the call `triage/2.1`. */
  agentRunId: string;
  /** Of a draft whose output differs. */
  experimentId: string;
  memberId: string;
  inviteCode: string;
  feedId: string;
  entityId: string;
  endpointId: string;
  /** Of the page on which a client with a hostile name asks for access. */
  authorizeQuery: string;
}

/** Fills the workspace with one resource of each kind that the console shows, with hostile names and outputs. */
export async function makeEverything({ call, engine }: Stage): Promise<Everything> {
  const made = async (method: string, path: string, body?: unknown): Promise<any> => {
    const answer = await call(method, path, body);
    if (answer.status >= 300) {
      throw new Error(`${method} ${path}: ${answer.status} ${JSON.stringify(answer.body)}`);
    }
    return answer.body;
  };
  const { script, turned, link, long, megabyte } = hostile;
  const define = async (name: string, nodes: object[], edges: object[] = []): Promise<string> =>
    (await made('POST', '/api/workflows', { name, description: script, graph: { nodes, edges } }))
      .id;
  const run = async (
    workflowId: string,
    end: 'success' | 'failed' | 'paused',
    input: object = {},
  ): Promise<string> => {
    const { id } = await made('POST', `/api/workflows/${workflowId}/runs`, input);
    await engine.until(id, [end]);
    return id;
  };

  const workflowId = await define(
    `${script} ${turned}`,
    [
      { id: 'ask', kind: 'agent', label: script, mock: { output: script } },
      { id: 'tell', kind: 'agent', label: turned, mock: { output: { [script]: link, turned } } },
    ],
    [{ source: 'ask', target: 'tell' }],
  );
  const runId = await run(workflowId, 'success', { note: megabyte, [script]: link });
  const nodes = [{ id: 'ask', kind: 'agent', label: turned, mock: { output: { [script]: long } } }];
  await made('PUT', `/api/workflows/${workflowId}/draft`, { graph: { nodes, edges: [] } });
  const { id: experimentId } = await made('POST', `/api/workflows/${workflowId}/experiments`, {
    ...{ candidate: 'draft', runs: [runId], allow: ['agent'] },
  });
  await eventually(
    async () => (await call('GET', `/api/experiments/${experimentId}`)).body.status === 'done',
  );
  const failing = await define(long, [
    { id: 'a', kind: 'agent', label: long, mock: { output: script, fail_times: 1 } },
  ]);
  const failedRunId = await run(failing, 'failed');
  const gateNodeId = 'gate';
  const gated = await define(
    turned,
    [
      { id: 'draft', kind: 'agent', label: turned, mock: { output: turned, delay_ms: 200 } },
      { id: gateNodeId, kind: 'human_gate', prompt: script },
    ],
    [{ source: 'draft', target: gateNodeId }],
  );
  const pausedRunId = await run(gated, 'paused', { note: script });

  const hostileCall = (expression: string) => ({
    tool: 'json_transform',
    arguments: { expression, [script]: turned },
  });
  const calling = await define(script, [
    {
      id: 'triage',
      kind: 'agent',
      label: script,
      system_prompt: script,
      prompt: megabyte.slice(0, 150_000),
      tools: [{ name: 'json_transform', approval: "args.expression == '1'" }],
      mock: {
        turns: [
          { calls: [{ tool: script, arguments: { [long]: script } }, hostileCall(script)] },
          { calls: [{ tool: 'json_transform', arguments: { expression: '1' } }] },
        ],
      },
    },
  ]);
  const agentRunId = await run(calling, 'paused');

  const { url: hookUrl } = await made('POST', `/api/workflows/${workflowId}/webhook`);
  // Refused, and kept with its body.
  await call('POST', new URL(hookUrl).pathname, { [script]: `${turned}\0`, note: long });
  await made('POST', '/api/schedules', { workflow_id: workflowId, cron: '0 9 * * 1' });
  await made('POST', `/api/workflows/${workflowId}/triggers`, { event: 'letter.came' });
  const { id: sentEventId } = await made('POST', '/api/events', {
    name: 'letter.came',
    data: { note: script },
  });
  await made('POST', '/api/templates', {
    name: script,
    graph: {
      nodes: [{ id: 'a', kind: 'agent', label: script, mock: { output: link } }],
      edges: [],
    },
  });
  await made('POST', '/api/budgets', { name: script, limit_usd: 100 });
  await made('POST', '/api/keys', { name: script, role: 'viewer' });
  await made('POST', '/api/tools', {
    name: 'hostile_tool',
    label: script,
    endpoint_url: 'http://127.0.0.1:9/',
  });
  const { id: memberId, invite_code: inviteCode } = await made('POST', '/api/members/invite', {
    name: `${script} ${turned}`,
    email: 'hostile@example.com',
    role: 'viewer',
  });

  const { id: feedId } = await made('POST', '/api/data/feeds', {
    name: `${script} ${turned}`,
    description: script,
    specification: { [script]: link },
  });
  await made('POST', '/api/data/sources', { name: script, type: turned, cadence: script });
  const record = (value: unknown) => ({
    type: 'entity',
    external_key: 'A-1',
    entity_type: 'permit',
    canonical_name: `${script} ${turned}`,
    aliases: [script],
    attributes: { [script]: value, link, text: 'x'.repeat(90_000) },
    geography: { city: script },
    source_evidence: [{ source_name: script, url: link }],
  });
  const event = {
    type: 'event',
    external_key: 'A-1 filed',
    event_type: 'permit_filed',
    primary_external_key: 'A-1',
    occurred_at: '2026-11-01T09:00:00Z',
    summary: `${script} ${turned}`,
    source_evidence: [{ url: link }],
  };
  await made('POST', '/api/data/ingest', { feed_id: feedId, records: [record(script), event] });
  await made('POST', '/api/data/ingest', { feed_id: feedId, records: [record(turned)] });
  const { entities } = await made('GET', '/api/data/entities');
  await made('POST', '/api/data/keys', { name: script, mode: 'live', scopes: ['usage:read'] });
  const redirect_uri = 'http://127.0.0.1:9/callback';
  const { client_id } = await made('POST', '/api/oauth/register', {
    client_name: `${script} ${turned} ${long.slice(0, 60)}`,
    redirect_uris: [redirect_uri],
  });
  const asked = {
    ...{ client_id, redirect_uri, response_type: 'code', scope: 'view run edit manage decide' },
    code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
    code_challenge_method: 'S256',
  };
  await made('POST', '/api/authorizations', { request: asked, scopes: ['view', 'run'] });
  const { id: endpointId } = await made('POST', '/api/webhooks', {
    url: 'http://127.0.0.1:9/?%3Cscript%3E',
    events: ['entity.created'],
  });
  await made('POST', `/api/webhooks/${endpointId}/ping`);
  return {
    workflowId,
    runId,
    failedRunId,
    sentEventId,
    pausedRunId,
    gateNodeId,
    agentRunId,
    experimentId,
    memberId,
    inviteCode,
    feedId,
    entityId: entities[0].id,
    endpointId,
    authorizeQuery: new URLSearchParams(asked).toString(),
  };
}
