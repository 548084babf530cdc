import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { policiesInput } from '#shared/contract/policies/policy.ts';
import { replacePolicies } from '#shared/db/policies/policies.ts';
import { sql } from '#shared/db/pool.ts';
import { echo, edge, mock } from '#test/support/engine.ts';
import { useEngineApi } from '#test/api/engine-api.ts';

const { engine, call } = useEngineApi({
  env: { ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64') },
});
let workflowId: string;
let runId: string;
beforeAll(async () => {
  workflowId = await engine.define({
    nodes: [
      mock('ask', { output: 'ok', cost_usd: 0.1 }, { prompt: '{topic}' }),
      echo('last', 'ask'),
    ],
    edges: [edge('ask', 'last')],
  });
  runId = await engine.trigger(workflowId, { topic: 'tea' });
  await engine.until(runId, ['success']);
});

const rerun = (payload: object, id = runId) => call('POST', `/api/runs/${id}/rerun`, payload);
const rehearse = (payload: object = {}) => rerun({ mode: 'recorded', ...payload });

describe('a rehearsal over the API', () => {
  test('is marked, listed by mode, and counts nowhere', async () => {
    const figures = async () => {
      const { body } = await call('GET', `/api/workflows/${workflowId}`);
      const { used } = await engine.db.one(sql.type(z.object({ used: z.number() }))`
        SELECT coalesce(sum(runs), 0)::int AS used FROM run_counters
      `);
      return [body.stats, used];
    };
    const before = await figures();
    const { status, body } = await rehearse();
    expect([status, body.mode, body.not_reused]).toEqual([201, 'recorded', []]);
    const run = await engine.until(body.id, ['success']);
    expect(run.cost_usd).toBe(0);
    expect(await figures()).toEqual(before);
    const ids = async (mode: string) =>
      (await call('GET', `/api/runs?mode=${mode}`)).body.runs.map(({ id }: { id: string }) => id);
    expect([await ids('recorded'), await ids('live')]).toEqual([[body.id], [runId]]);
    const { body: log } = await call('GET', '/api/audit?action=rerun');
    expect(log.logs[0].details).toMatchObject({
      ...{ forked_from: runId, run_id: body.id, mode: 'recorded', allow: [] },
    });
  });

  test('reports what it does not reuse at the start', async () => {
    const { body } = await rehearse({ input: { topic: 'oil' } });
    expect(body.not_reused).toEqual([
      { step_key: 'ask', node_id: 'ask', reason: 'its input has changed' },
      {
        step_key: 'last',
        node_id: 'last',
        reason: 'it is not reached without a step that is executed again',
      },
    ]);
  });

  test('without mode has no rehearsal fields', async () => {
    for (const field of [{ allow: ['agent'] }, { failures: 'execute' }, { decisions: {} }]) {
      const { status, body } = await rerun(field);
      expect([status, body.detail]).toEqual([
        400,
        expect.stringContaining(`${Object.keys(field)[0]} needs mode: 'recorded'`),
      ]);
    }
  });

  const mistakes: [string, object, number, string][] = [
    [
      'an effect',
      { allow: ['entity_upsert'] },
      400,
      "'entity_upsert' has effects, so no rehearsal executes it",
    ],
    ['a tool without its method', { allow: ['http_request'] }, 400, "must be 'agent', 'workflow'"],
    [
      'a tool that is none',
      { allow: ['custom:nothing'] },
      422,
      "'custom:nothing' cannot be allowed, because there is no such tool",
    ],
    [
      'an effect behind a gate that the request decides',
      { allow: ['http_request:POST'], decisions: { ok: { approved: true } } },
      400,
      "cannot be combined with 'http_request:POST' in allow: no one has approved what that does",
    ],
    ['a mode that is none', { mode: 'live' }, 400, 'mode'],
    ['a version that is none', { version: 9 }, 422, 'The workflow has no version 9'],
    ['a draft that is none', { draft: true }, 404, 'Draft not found'],
    ['both graphs', { draft: true, version: 1 }, 400, 'cannot be combined with version'],
  ];
  test.each(mistakes)('refuses %s', async (_name, payload, status, text) => {
    const answer = await rehearse(payload);
    expect([answer.status, answer.body.detail]).toEqual([status, expect.stringContaining(text)]);
  });

  test('refuses to allow what a policy forbids', async () => {
    const tools = [
      { tool: 'http_request', blocked_arguments: [{ argument: 'method', values: ['POST'] }] },
      { tool: 'feed_list', allowed_workflow_ids: ['wf_other'] },
    ];
    await replacePolicies(engine.db, engine.actor, policiesInput.parse({ tools }));
    const post = await rehearse({ allow: ['http_request:POST'] });
    expect([post.status, post.body.detail]).toEqual([
      422,
      "'http_request:POST' cannot be allowed, because a policy forbids it: Argument 'method' of tool 'http_request' has a blocked value; leave it out of allow",
    ]);
    const list = await rehearse({ allow: ['feed_list'] });
    expect(list.body.detail).toContain("Tool 'feed_list' is not allowed in this workflow");
    expect((await rehearse({ allow: ['http_request:GET'] })).status).toBe(201);
  });

  test('refuses a run that was deleted, and a version whose secret was', async () => {
    expect((await rerun({ mode: 'recorded' }, 'run_none')).status).toBe(404);
    await call('PUT', '/api/secrets/CRM', {
      value: 'a-secret-value-0123',
      allowed_hosts: ['crm.example.com'],
    });
    const graph = {
      nodes: [
        {
          ...{ id: 'ask', kind: 'tool', tool_name: 'http_request' },
          params: { url: 'https://crm.example.com', headers: { key: '{secrets.CRM}' } },
        },
      ],
      edges: [],
    };
    const saved = await call('PUT', `/api/workflows/${workflowId}/draft`, { graph });
    expect(saved.status).toBeLessThan(300);
    const removed = await call('DELETE', '/api/secrets/CRM');
    const { status, body } = await rehearse({ draft: true });
    expect([removed.status < 300, status, body.detail]).toEqual([
      true,
      400,
      expect.stringContaining('CRM'),
    ]);
  });
});
