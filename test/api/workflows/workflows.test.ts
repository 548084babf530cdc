import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql, withClient } from '#shared/db/pool.ts';
import { reconcileOnce } from '#shared/operations/runs/reconcile.ts';
import { eventually } from '#test/support/engine.ts';
import { oneStep, useTestApi } from '#test/api/test-api.ts';

const api = useTestApi();

const create = async (body: object = {}) =>
  (await api.call('POST', '/api/workflows', { name: 'Answer tickets', ...body })).body;

const auditOf = async (workflowId: string) =>
  api.db.any(sql.type(z.object({ action: z.string(), actor_name: z.string(), details: z.any() }))`
    SELECT action, actor_name, details FROM audit_log WHERE target_id = ${workflowId} ORDER BY seq
  `);

describe('a workflow', () => {
  test('is created as a draft at version 1 with an empty graph and no runs', async () => {
    const answer = await api.call('POST', '/api/workflows', { name: '  Answer tickets ' });
    expect(answer.status).toBe(201);
    expect(answer.body).toEqual({
      id: expect.stringMatching(/^wf_[0-9a-z]{26}$/),
      workspace_id: api.workspaceId,
      name: 'Answer tickets',
      description: '',
      status: 'draft',
      version: 1,
      graph: { nodes: [], edges: [] },
      input_schema: null,
      requires_experiment: false,
      checks: [],
      run_cap_usd: null,
      overrun: 'none',
      stats: {
        total: 0,
        success: 0,
        failed: 0,
        paused: 0,
        running: 0,
        success_rate: 0,
        avg_cost_usd: null,
        avg_duration_ms: null,
        last_run_at: null,
      },
      created_by: expect.stringMatching(/^mem_/),
      created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      updated_at: expect.any(String),
      has_draft: false,
      etag: expect.stringMatching(/^[\w-]{22}$/),
    });
    expect(answer.headers['location']).toBe(`/api/workflows/${answer.body.id}`);
    expect((await api.call('GET', `/api/workflows/${answer.body.id}`)).body).toEqual(answer.body);
  });

  test('is listed newest first, as a bare array', async () => {
    const first = await create({ name: 'first' });
    const second = await create({ name: 'second' });
    const { status, body } = await api.call('GET', '/api/workflows');
    expect(status).toBe(200);
    expect(body.slice(0, 2).map((workflow: { id: string }) => workflow.id)).toEqual([
      second.id,
      first.id,
    ]);
  });

  test('keeps an invalid graph unchanged and reports its errors', async () => {
    const graph = {
      nodes: [{ id: 'a', kind: 'wizard' }],
      edges: [{ source: 'a', target: 'b' }],
      note: 'x',
    };
    const workflow = await create({ graph });
    expect(workflow.graph).toEqual(graph);
    const { status, body } = await api.call('POST', `/api/workflows/${workflow.id}/validate`);
    expect(status).toBe(200);
    expect(body.valid).toBe(false);
    expect(body.errors.length).toBeGreaterThan(0);
    expect(Object.keys(body).sort()).toEqual(['errors', 'valid', 'warnings']);
  });

  test('cannot set the key secrets, unless its version is older than that rule', async () => {
    const gather = { id: 'gather', kind: 'tool', tool_name: 'json_transform' };
    const params = { expression: '1' };
    const nodes = [{ ...gather, params, output_key: 'secrets' }];
    const { id } = await create({ graph: { nodes, edges: [] } });
    const issue = { code: 'key_reserved', node_id: 'gather', path: 'nodes[0].output_key' };
    const validate = async () => (await api.call('POST', `/api/workflows/${id}/validate`)).body;
    expect(await validate()).toMatchObject({ valid: false, errors: [issue], warnings: [] });
    expect(await api.call('POST', `/api/workflows/${id}/runs`, {})).toMatchObject({
      status: 400,
      body: { detail: expect.stringContaining("nothing can read the key 'secrets'") },
    });
    // As the upgrade to 1.0.0 has left versions that may do so.
    await withClient(api.databaseUrl, (client) =>
      client.query('UPDATE workflow_versions SET may_set_secrets = true'),
    );
    expect(await validate()).toMatchObject({ valid: true, errors: [], warnings: [issue] });
    expect((await api.call('POST', `/api/workflows/${id}/runs`, {})).status).toBe(201);
    const changed = { nodes: [...nodes, { ...gather, id: 'more', params }], edges: [] };
    await api.call('PUT', `/api/workflows/${id}`, { graph: changed });
    expect(await validate()).toMatchObject({ valid: false, errors: [issue] });
  });

  test('is checked before it is saved', async () => {
    const { id } = await create({ graph: oneStep });
    const validate = async (body: unknown) =>
      (await api.call('POST', `/api/workflows/${id}/validate`, body)).body;
    const gate = { id: 'ask', kind: 'human_gate', prompt: 'Go on, {name}?', required: 2 };
    const graph = { nodes: [gate], edges: [] };
    const report = await validate({ graph });
    expect(report).toMatchObject({
      valid: false,
      errors: [{ code: 'gate_too_few_approvers', path: 'nodes[0].required' }],
    });
    const input_schema = { type: 'object', properties: { nam: {} }, additionalProperties: false };
    const { warnings } = await validate({ graph, input_schema });
    expect(warnings).not.toEqual(report.warnings);
    expect(await validate({})).toMatchObject({ valid: true });
    expect((await api.call('GET', `/api/workflows/${id}`)).body.graph).toEqual(oneStep);
    const refused = await api.call('POST', `/api/workflows/${id}/validate`, { graph: 1 });
    expect(refused.status).toBe(400);
  });

  test('is valid when its graph can run', async () => {
    const workflow = await create({ graph: oneStep });
    const { body } = await api.call('POST', `/api/workflows/${workflow.id}/validate`, {});
    expect(body).toMatchObject({ valid: true, errors: [] });
  });
});

describe('an update', () => {
  test('keeps a note with the version that it creates, and refuses one without', async () => {
    const { id } = await create({ graph: oneStep });
    const put = (body: object) => api.call('PUT', `/api/workflows/${id}`, body);
    const graph = { nodes: [{ id: 'a', kind: 'merge' }], edges: [] };
    expect((await put({ graph, note: ' Waits for both ' })).body.version).toBe(2);
    const { versions } = (await api.call('GET', `/api/workflows/${id}/versions`)).body;
    expect(versions.map(({ note }: { note: string | null }) => note)).toEqual([
      'Waits for both',
      null,
    ]);
    const entry = (await api.call('GET', '/api/audit?limit=1')).body.logs[0];
    expect(entry.details).toEqual({ changed: ['graph'], version: 2, note: 'Waits for both' });
    const alone = await put({ name: 'Other', note: 'x' });
    expect([alone.status, alone.body.detail]).toEqual([
      400,
      'Invalid body: note belongs to a new version: add graph or input_schema',
    ]);
  });

  test('increments the version only when the graph changes', async () => {
    const { id } = await create({ graph: { nodes: [{ id: 'a', kind: 'merge' }], edges: [] } });
    const put = async (body: object) =>
      (await api.call('PUT', `/api/workflows/${id}`, { ...body })).body.version;
    expect(await put({ name: 'Other name', description: 'why' })).toBe(1);
    expect(await put({ graph: { edges: [], nodes: [{ kind: 'merge', id: 'a' }] } })).toBe(1);
    expect(await put({ graph: { nodes: [{ id: 'b', kind: 'merge' }], edges: [] } })).toBe(2);
    expect(await put({ graph: { nodes: [{ id: 'a', kind: 'merge' }], edges: [] } })).toBe(3);
  });

  test('sets and clears the run cap, to the micro-dollar', async () => {
    const { id } = await create();
    const set = await api.call('PUT', `/api/workflows/${id}`, { run_cap_usd: 0.000_001 });
    expect(set.body.run_cap_usd).toBe(0.000001);
    const lifted = await api.call('PUT', `/api/workflows/${id}`, { run_cap_usd: null });
    expect(lifted.body.run_cap_usd).toBeNull();
  });

  test('adds a version, also when concurrent with others', async () => {
    const { id } = await create();
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, i) =>
        api.call('PUT', `/api/workflows/${id}`, {
          graph: { nodes: [{ id: `n${i}`, kind: 'merge' }], edges: [] },
        }),
      ),
    );
    expect(answers.map((answer) => answer.status)).toEqual(Array(8).fill(200));
    expect((await api.call('GET', `/api/workflows/${id}`)).body.version).toBe(9);
    const { body } = await api.call('GET', `/api/workflows/${id}/versions`);
    expect(body.versions.map((each: { version: number }) => each.version)).toEqual([
      9, 8, 7, 6, 5, 4, 3, 2, 1,
    ]);
  });

  test('without changes keeps updated_at and adds no audit entry', async () => {
    const workflow = await create({ graph: oneStep });
    const answer = await api.call('PUT', `/api/workflows/${workflow.id}`, {
      name: workflow.name,
      graph: oneStep,
    });
    expect(answer.body.updated_at).toBe(workflow.updated_at);
    expect((await auditOf(workflow.id)).map((entry) => entry.action)).toEqual(['create']);
  });
});

describe('publishing', () => {
  test('publishes a draft and is idempotent', async () => {
    const { id } = await create();
    for (let i = 0; i < 2; i += 1) {
      const { status, body } = await api.call('POST', `/api/workflows/${id}/publish`);
      expect([status, body.status]).toEqual([200, 'published']);
    }
    expect((await auditOf(id)).map((entry) => entry.action)).toEqual(['create', 'publish']);
  });
});

describe('checks', () => {
  test('are set as a list and returned with the workflow', async () => {
    const { id } = await create();
    const checks = [
      { name: 'polite', type: 'contains', target: 'answer', value: 'thank', case_sensitive: false },
      { name: 'cheap', type: 'max_cost_usd', value: 0.5 },
      { name: 'right', type: 'expression', value: "answer != ''" },
    ];
    const { status, body } = await api.call('PUT', `/api/workflows/${id}/checks`, checks);
    expect([status, body.checks]).toEqual([200, checks]);
  });

  test('of an unknown type are refused', async () => {
    const { id } = await create();
    const { status, body } = await api.call('PUT', `/api/workflows/${id}/checks`, [
      { name: 'x', type: 'vibes', value: 'good' },
    ]);
    expect(status).toBe(400);
    expect(body.detail).toMatch(/^Invalid body: 0\.type/);
  });
});

describe('versions', () => {
  test('are read in full, paged, and compared', async () => {
    const { id } = await create({ graph: { nodes: [{ id: 'a', kind: 'merge' }], edges: [] } });
    const graph = {
      nodes: [
        { id: 'a', kind: 'merge', label: 'A' },
        { id: 'b', kind: 'merge' },
      ],
      edges: [{ source: 'a', target: 'b' }],
    };
    await api.call('PUT', `/api/workflows/${id}`, { graph });
    await api.call('PUT', `/api/workflows/${id}`, { graph: { nodes: [], edges: [] } });

    const second = await api.call('GET', `/api/workflows/${id}/versions/2`);
    expect(second.body).toMatchObject({ workflow_id: id, version: 2, graph });

    const page = await api.call('GET', `/api/workflows/${id}/versions?limit=2`);
    expect(page.body.versions.map((each: { version: number }) => each.version)).toEqual([3, 2]);
    expect(page.body.versions[1]).toMatchObject({ nodes: 2, edges: 1 });
    const rest = await api.call(
      'GET',
      `/api/workflows/${id}/versions?limit=2&cursor=${page.body.next_cursor}`,
    );
    expect(rest.body.versions.map((each: { version: number }) => each.version)).toEqual([1]);
    expect(rest.body.next_cursor).toBeNull();

    const diff = await api.call('GET', `/api/workflows/${id}/versions/diff?from=1&to=2`);
    expect(diff.body).toEqual({
      from: 1,
      to: 2,
      nodes: {
        added: [{ id: 'b', kind: 'merge' }],
        removed: [],
        changed: [{ id: 'a', paths: ['label'] }],
      },
      edges: { added: [{ source: 'a', target: 'b' }], removed: [], changed: [] },
      input_schema: null,
    });
  });

  test('that are unknown get a different error than unknown workflows', async () => {
    const { id } = await create();
    const version = await api.call('GET', `/api/workflows/${id}/versions/2`);
    expect([version.status, version.body]).toEqual([404, { detail: 'Version not found' }]);
    const workflow = await api.call('GET', '/api/workflows/wf_unknown/versions/1');
    expect([workflow.status, workflow.body]).toEqual([404, { detail: 'Workflow not found' }]);
    const diff = await api.call('GET', `/api/workflows/${id}/versions/diff?from=1&to=7`);
    expect([diff.status, diff.body]).toEqual([404, { detail: 'Version not found' }]);
  });
});

describe('deletion', () => {
  test('removes the workflow and its runs, and cancels active runs', async () => {
    const { id } = await create({ graph: oneStep });
    const run = await api.call('POST', `/api/workflows/${id}/runs`, { ticket: 'hello' });
    expect(run.status).toBe(201);
    const deleted = await api.call('DELETE', `/api/workflows/${id}`);
    expect([deleted.status, deleted.text]).toEqual([204, '']);
    expect((await api.call('GET', `/api/workflows/${id}`)).status).toBe(404);
    expect((await api.call('GET', `/api/runs/${run.body.id}`)).status).toBe(404);
    const execution = api.temporal.client.workflow.getHandle(run.body.id);
    // The response does not wait for Temporal. A cancel that comes before the row of the start is deleted is left to
    // the reconciler; no worker runs it here.
    await eventually(async () => {
      await reconcileOnce(api);
      const { events = [] } = await execution.fetchHistory();
      return (
        events?.some((event) => event.workflowExecutionCancelRequestedEventAttributes) ?? false
      );
    });
    expect((await execution.describe()).status.name).toBe('RUNNING');
    expect((await auditOf(id)).at(-1)).toMatchObject({
      action: 'delete',
      actor_name: 'Owner',
      details: { cancelled_runs: 1 },
    });
  });

  test('makes further requests for the workflow 404', async () => {
    const { id } = await create();
    await api.call('DELETE', `/api/workflows/${id}`);
    expect((await api.call('DELETE', `/api/workflows/${id}`)).status).toBe(404);
    expect((await api.call('POST', `/api/workflows/${id}/runs`, {})).status).toBe(404);
  });
});

test('every change writes an audit entry', async () => {
  const { id } = await create();
  await api.call('PUT', `/api/workflows/${id}`, { name: 'Other', graph: oneStep });
  await api.call('PUT', `/api/workflows/${id}/checks`, [
    { name: 'c', type: 'max_duration_ms', value: 5 },
  ]);
  await api.call('POST', `/api/workflows/${id}/publish`);
  await api.call('DELETE', `/api/workflows/${id}`);
  expect(await auditOf(id)).toEqual([
    { action: 'create', actor_name: 'Owner', details: { name: 'Answer tickets' } },
    { action: 'update', actor_name: 'Owner', details: { changed: ['name', 'graph'], version: 2 } },
    { action: 'update', actor_name: 'Owner', details: { changed: ['checks'], checks: 1 } },
    { action: 'publish', actor_name: 'Owner', details: { version: 2 } },
    { action: 'delete', actor_name: 'Owner', details: { name: 'Other', cancelled_runs: 0 } },
  ]);
});
