import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type GovernanceEntry, recordGovernanceEvent } from '#shared/db/policies/governance.ts';
import { readPolicies } from '#shared/db/policies/policies.ts';
import { sql } from '#shared/db/pool.ts';
import { useTestApi } from '#test/api/test-api.ts';

const api = useTestApi();

const get = async () => api.call('GET', '/api/workspace/policies');
const put = async (body: unknown) => api.call('PUT', '/api/workspace/policies', body);
const unrestricted = {
  model_allowlist: null,
  tools: [],
  redaction: { detectors: [], patterns: [] },
  limits: [],
};
const audit = async () =>
  api.db.any(
    sql.type(
      z.object({
        action: z.string(),
        target_type: z.string(),
        target_id: z.string(),
        details: z.any(),
      }),
    )`SELECT action, target_type, target_id, details FROM audit_log WHERE action = 'policy_update' ORDER BY seq`,
  );

describe('the policies of a workspace', () => {
  test('restrict nothing until they are set', async () => {
    expect(await get()).toMatchObject({ status: 200, body: unrestricted });
  });

  test('are replaced as a whole, with a new revision and an audit entry', async () => {
    const policies = {
      model_allowlist: ['mock'],
      tools: [
        {
          tool: 'http_request',
          allowed_workflow_ids: ['wf_1'],
          blocked_arguments: [
            { argument: 'body.country', values: ['KP', 1, null, { a: [1] }] },
            { argument: 'url', pattern: 'example\\.net' },
          ],
        },
      ],
      redaction: { detectors: ['email'], patterns: [{ name: 'employee', regex: 'EMP-\\d+' }] },
      limits: [
        { models: ['openai/*', 'mock'], concurrency: 5 },
        { tools: ['http_request'], per_minute: 60, key: '{args.body.customer}-{workflow_id}' },
      ],
    };
    expect(await put(policies)).toMatchObject({ status: 200, body: policies });
    expect((await get()).body).toEqual(policies);
    expect((await put({ model_allowlist: [] })).body).toEqual({
      ...unrestricted,
      model_allowlist: [],
    });
    expect((await get()).body).toEqual({ ...unrestricted, model_allowlist: [] });
    expect((await readPolicies(api.db, api.workspaceId)).revision).toBe(2);
    expect(await audit()).toEqual([
      {
        action: 'policy_update',
        target_type: 'workspace',
        target_id: api.workspaceId,
        details: {
          revision: 1,
          models: 1,
          tools: ['http_request'],
          detectors: ['email'],
          patterns: ['employee'],
          limits: 2,
        },
      },
      expect.objectContaining({ details: expect.objectContaining({ revision: 2, models: 0 }) }),
    ]);
  });

  test('replaced concurrently get one revision each, and one is kept whole', async () => {
    const before = (await readPolicies(api.db, api.workspaceId)).revision;
    const sets = Array.from({ length: 8 }, (_, n) => [`model-${n}`, `other-${n}`]);
    const answers = await Promise.all(sets.map((model_allowlist) => put({ model_allowlist })));
    expect(answers.map(({ status }) => status)).toEqual(sets.map(() => 200));
    const after = await readPolicies(api.db, api.workspaceId);
    expect(after.revision).toBe(before + sets.length);
    expect(sets).toContainEqual(after.policies.model_allowlist);
  });

  test('of other workspaces are unaffected', async () => {
    await api.db.query(sql.unsafe`
      INSERT INTO workspaces (id, name, created_at) VALUES ('ws_other', 'Other', now() + interval '1 day')`);
    await put({ model_allowlist: ['mock'] });
    expect(await readPolicies(api.db, 'ws_other')).toEqual({ revision: 0, policies: unrestricted });
  });

  const rule = (blocked: object) => ({ tools: [{ tool: 't', blocked_arguments: [blocked] }] });
  const patterns = (...list: object[]) => ({ redaction: { patterns: list } });
  const limited = (limit: object) => ({ limits: [{ concurrency: 1, ...limit }] });
  const keyed = (key: string) => limited({ tools: ['mcp'], key });
  test.each<[string, unknown]>([
    ['redaction.patterns.0.regex is not a valid RE2 pattern', patterns({ name: 'a', regex: '(' })],
    ['redaction.patterns.0.regex is not a valid RE2', patterns({ name: 'a', regex: '(?=look)' })],
    ['redaction.patterns.0.name', patterns({ name: 'email', regex: 'x' })],
    ['redaction.patterns.0.name', patterns({ name: 'a b', regex: 'x' })],
    [
      'redaction.patterns uses a name twice',
      patterns({ name: 'a', regex: 'x' }, { name: 'a', regex: 'y' }),
    ],
    [
      'redaction.patterns',
      patterns(...Array.from({ length: 21 }, (_, n) => ({ name: `p${n}`, regex: 'x' }))),
    ],
    ['redaction.detectors names a detector twice', { redaction: { detectors: ['ip', 'ip'] } }],
    [
      'tools.0.blocked_arguments.0.pattern is not a valid RE2',
      rule({ argument: 'a', pattern: '[' }),
    ],
    ['tools.0.blocked_arguments.0.argument', rule({ argument: 'a..b', values: [1] })],
    ["requires either 'values' or 'pattern'", rule({ argument: 'a' })],
    ["requires either 'values' or 'pattern'", rule({ argument: 'a', values: [1], pattern: 'x' })],
    ['tools names a tool twice', { tools: [{ tool: 'a' }, { tool: 'a' }] }],
    ['tools.0.tool', { tools: [{ tool: 'delay' }] }],
    ["limits.0 requires either 'tools' or 'models'", limited({})],
    ["limits.0 requires either 'tools' or 'models'", limited({ tools: ['mcp'], models: ['mock'] })],
    [
      "limits.0 requires 'concurrency', 'per_minute' or both",
      { limits: [{ models: ['mock'], key: '{name}' }] },
    ],
    ['limits.0.concurrency', limited({ models: ['mock'], concurrency: 0 })],
    ['limits.0.per_minute', limited({ models: ['mock'], per_minute: 6_001 })],
    ['limits.0.key', limited({ models: ['mock'], key: `{args.${'a'.repeat(200)}}` })],
    ["limits.0.tools.0 can have '*' only at its end", limited({ tools: ['*_request'] })],
    ['limits.0.tools names one twice', limited({ tools: ['mcp', 'mcp'] })],
    ["limits.0.tools.0 names 'delay', which calls nothing", limited({ tools: ['delay'] })],
    ["limits.0.tools.0 names 'json_transform', which", limited({ tools: ['json_transform'] })],
    ['limits.0.tools.0 names code, which calls nothing', limited({ tools: ['code'] })],
    ['limits.0.tools.0 names a workflow', limited({ tools: ['workflow:a'] })],
    [
      "limits.0.tools.1 names 'http_requst', but there is no such tool; did you mean 'http_request'?",
      limited({ tools: ['mcp', 'http_requst'] }),
    ],
    [
      "limits.0.tools.0 names 'custom:crm', which is not registered",
      limited({ tools: ['custom:crm'] }),
    ],
    ["limits.0.key has '{args.}', which is no reference", keyed('{args.}')],
    ['limits.0.key reads nothing', keyed('customer')],
    [
      "limits.0.key reads 'argss', but has only args, name and workflow_id; did you mean 'args'?",
      keyed('{argss.customer}'),
    ],
    [
      'limits has two limits of the same names and key',
      {
        limits: [
          { models: ['a', 'b'], concurrency: 1 },
          { models: ['b', 'a'], per_minute: 1 },
        ],
      },
    ],
    [
      'limits',
      { limits: Array.from({ length: 51 }, (_, n) => ({ models: [`m${n}`], concurrency: 1 })) },
    ],
  ])('are refused with %s', async (detail, body) => {
    const before = await readPolicies(api.db, api.workspaceId);
    const answer = await put(body);
    expect(answer.status).toBe(400);
    expect(answer.body.detail).toContain(detail);
    expect(await readPolicies(api.db, api.workspaceId)).toEqual(before);
  });
});

const entries = (): GovernanceEntry[] => [
  {
    workspaceId: api.workspaceId,
    type: 'policy_denied',
    policy: 'tool_permission',
    decision: 'denied',
    reason: 'first',
    evidence: { tool: 'http_request' },
    workflowId: 'wf_1',
    version: 3,
    runId: 'run_1',
    nodeId: 'send',
  },
  {
    workspaceId: api.workspaceId,
    type: 'budget_blocked',
    policy: 'budget',
    decision: 'blocked',
    reason: 'second',
    evidence: {},
    workflowId: 'wf_2',
  },
  {
    workspaceId: api.workspaceId,
    type: 'approval_override_granted',
    policy: 'budget',
    decision: 'granted',
    reason: 'third',
    evidence: {},
    workflowId: 'wf_2',
    runId: 'run_2',
    actorId: 'mem_1',
  },
  {
    workspaceId: 'ws_elsewhere',
    type: 'policy_denied',
    policy: 'tool_permission',
    decision: 'denied',
    reason: 'foreign',
    evidence: {},
    workflowId: 'wf_1',
    runId: 'run_1',
  },
];

const list = async (query = '') => api.call('GET', `/api/governance/events${query}`);
const reasons = async (query: string) =>
  (await list(query)).body.map((event: { reason: string }) => event.reason);

describe('governance events', () => {
  beforeAll(async () => {
    await api.db.query(sql.unsafe`
      INSERT INTO workspaces (id, name, created_at) VALUES ('ws_elsewhere', 'Other', now() + interval '1 day')`);
    for (const entry of entries()) await recordGovernanceEvent(api.db, entry);
  });

  test('are a bare array, newest first, with every field, and none of another workspace', async () => {
    const { status, body } = await list();
    expect(status).toBe(200);
    expect(body.map((event: { reason: string }) => event.reason)).toEqual([
      'third',
      'second',
      'first',
    ]);
    expect(body[2]).toEqual({
      id: expect.stringMatching(/^[0-9a-f]{12}$/),
      type: 'policy_denied',
      workspace_id: api.workspaceId,
      workflow_id: 'wf_1',
      version: 3,
      run_id: 'run_1',
      node_id: 'send',
      policy: 'tool_permission',
      actor_id: null,
      decision: 'denied',
      reason: 'first',
      evidence: { tool: 'http_request' },
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    });
    expect(body[1]).toMatchObject({ version: null, run_id: null, node_id: null });
    expect(body[0]).toMatchObject({ actor_id: 'mem_1' });
  });

  test.each([
    ['?run_id=run_1', ['first']],
    ['?workflow_id=wf_2', ['third', 'second']],
    ['?event_type=budget_blocked', ['second']],
    ['?decision=granted', ['third']],
    ['?workflow_id=wf_2&decision=blocked', ['second']],
    ['?run_id=nobody', []],
    ['?limit=1', ['third']],
    ['?limit=2&offset=1', ['second', 'first']],
  ])('%s gives %j', async (query, expected) => {
    expect(await reasons(query)).toEqual(expected);
  });
});
