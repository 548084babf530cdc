import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type GovernanceEntry, recordGovernanceEvent } from '#shared/db/policies/governance.ts';
import { sql } from '#shared/db/pool.ts';
import { startTestApi, type TestApi } from '#test/api/test-api.ts';

let api: TestApi;
beforeAll(async () => {
  api = await startTestApi();
  await api.db.query(sql.type(z.object({}))`
    INSERT INTO workspaces (id, name, created_at) VALUES ('ws_other', 'Other', now() + interval '1 day')`);
  for (const entry of entries()) await recordGovernanceEvent(api.db, entry);
});
afterAll(() => api.stop());

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
    workspaceId: 'ws_other',
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
