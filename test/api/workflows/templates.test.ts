import { describe, expect, test } from '@jest/globals';
import { checkGraph } from '#shared/graph/graph-check.ts';
import { builtInTemplates } from '#shared/templates/index.ts';
import { builtinTools, isShortTool } from '#shared/tools.ts';
import { echo, eventually } from '#test/support/engine.ts';
import { useEngineApi } from '#test/api/engine-api.ts';

// All egress is blocked: a sample run that calls anything fails.
const { engine, call } = useEngineApi({ env: { EGRESS_ALLOW: '' } });

const lastEntry = async () => (await call('GET', '/api/audit?limit=1')).body.logs[0];

const graph = { nodes: [echo('a')], edges: [] };
const checks = [{ name: 'quick', type: 'max_duration_ms', value: 5_000 }];

describe.each(builtInTemplates)('the built-in template "$name"', (template) => {
  test('has a graph without errors or warnings', () => {
    const { valid, errors, warnings } = checkGraph(template.graph, {
      tools: builtinTools,
      customTools: new Map(),
    });
    expect({ valid, errors, warnings }).toEqual({ valid: true, errors: [], warnings: [] });
  });

  test('describes its input keys, and labels and places every node', () => {
    for (const key of Object.keys(template.sampleInput)) {
      expect(template.description).toContain(key);
    }
    // Lines that were joined without a space.
    expect(template.description).not.toMatch(/[a-z][.;:][A-Z]/);
    const nodes = template.graph.nodes!;
    const places = nodes.map(({ position }) => `${position?.x},${position?.y}`);
    expect(new Set(places).size).toBe(nodes.length);
    expect(nodes.filter(({ label }) => (label ?? '') === '')).toEqual([]);
  });

  test('creates a workflow that completes its sample and passes every check', async () => {
    const made = await call('POST', `/api/templates/${template.id}/instantiate`);
    expect([made.status, made.headers['location']]).toEqual([
      201,
      `/api/workflows/${made.body.id}`,
    ]);
    expect(made.body).toMatchObject({
      name: template.name,
      status: 'draft',
      version: 1,
      checks: template.checks,
    });
    const { body: run } = await call(
      'POST',
      `/api/workflows/${made.body.id}/runs`,
      template.sampleInput,
    );
    if (template.sampleEvent !== undefined) {
      await eventually(async () => {
        const { body } = await call('GET', `/api/runs/${run.id}`);
        return body.waiting.length > 0;
      });
      expect((await call('POST', '/api/events', template.sampleEvent)).status).toBe(201);
    }
    let settled = await engine.until(run.id, ['success', 'failed', 'paused']);
    for (let gates = 0; settled.status === 'paused' && gates < 10; gates += 1) {
      await call('POST', `/api/runs/${run.id}/approve`, {});
      settled = await engine.until(run.id, ['success', 'failed', 'paused']);
    }
    expect([settled.status, settled.error]).toEqual(['success', null]);
    const failed = settled.evals!.results.filter(({ passed }) => !passed);
    expect([failed, settled.evals!.total]).toEqual([[], template.checks.length]);
    const outside = settled.steps.filter(
      ({ node_id, status }) =>
        status !== 'skipped' &&
        template.graph.nodes!.some(
          (node) =>
            node.id === node_id &&
            node.kind === 'tool' &&
            node.tool_name !== 'delay' &&
            !isShortTool(node.tool_name),
        ),
    );
    expect(outside).toEqual([]);
  });

  test('runs on the mock model only', () => {
    const models = template.graph.nodes!.flatMap((node) =>
      node.kind === 'agent' ? [node.model ?? 'mock', ...(node.fallback_models ?? [])] : [],
    );
    expect(new Set([...models, 'mock'])).toEqual(new Set(['mock']));
  });

  test('cannot be changed or deleted', async () => {
    for (const method of ['PUT', 'DELETE']) {
      const { status, body } = await call(
        method,
        `/api/templates/${template.id}`,
        method === 'PUT' ? { name: 'Mine' } : undefined,
      );
      expect([status, body.detail]).toEqual([
        409,
        `The template '${template.name}' is built in and cannot be changed; save a copy of your own`,
      ]);
    }
    expect((await call('GET', `/api/templates/${template.id}`)).body).toMatchObject({
      name: template.name,
      built_in: true,
      created_at: null,
      sample_input: template.sampleInput,
    });
  });
});

test('document review opens both gates in parallel, and one rejection returns the document', async () => {
  const { body: workflow } = await call('POST', '/api/templates/tpl_document-review/instantiate');
  const runId = await engine.trigger(workflow.id, { title: 'Terms', text: 'Never late.' });
  const paused = await engine.until(runId, ['paused']);
  expect(paused.pending_gates.map(({ node_id }) => node_id).sort()).toEqual(['editorial', 'legal']);
  await call('POST', `/api/runs/${runId}/approve`, { node_id: 'legal' });
  await engine.until(runId, ['paused']);
  await call('POST', `/api/runs/${runId}/approve`, { node_id: 'editorial', approved: false });
  const { status, state } = await engine.until(runId, ['success', 'failed']);
  expect([status, state?.['decision']]).toEqual(['success', 'Back to the author: Terms']);
});

describe('a custom template', () => {
  test('is saved, read, deleted, and listed newest first after the built-in ones', async () => {
    const first = await call('POST', '/api/templates', { name: 'One', graph });
    const { status, body, headers } = await call('POST', '/api/templates', {
      name: 'Two',
      description: 'second',
      graph,
      checks,
      sample_input: { ticket: 'x' },
    });
    expect([status, headers['location']]).toEqual([201, `/api/templates/${body.id}`]);
    expect(body).toEqual({
      id: expect.stringMatching(/^tpl_[0-9a-z]{26}$/),
      name: 'Two',
      description: 'second',
      built_in: false,
      graph,
      input_schema: null,
      checks,
      limits: null,
      sample_input: { ticket: 'x' },
      created_at: expect.stringMatching(/Z$/),
      etag: expect.any(String),
    });
    expect(await lastEntry()).toMatchObject({
      action: 'create',
      target_type: 'template',
      target_id: body.id,
      details: { name: 'Two' },
    });
    const ids = (await call('GET', '/api/templates')).body.map(({ id }: any) => id);
    expect(ids).toEqual([...builtInTemplates.map(({ id }) => id), body.id, first.body.id]);
    expect((await call('GET', `/api/templates/${body.id}`)).body).toEqual(body);
    for (const { id } of [body, first.body]) {
      expect((await call('DELETE', `/api/templates/${id}`)).status).toBe(204);
      expect((await call('GET', `/api/templates/${id}`)).body).toEqual({
        detail: 'Template not found',
      });
    }
  });

  test('copies the current state of a workflow', async () => {
    const { body: workflow } = await call('POST', '/api/workflows', {
      name: 'Source',
      description: 'of it',
      graph: { nodes: [], edges: [] },
    });
    await call('PUT', `/api/workflows/${workflow.id}`, { graph });
    await call('PUT', `/api/workflows/${workflow.id}/checks`, checks);
    const { body } = await call('POST', '/api/templates', { workflow_id: workflow.id });
    expect(body).toMatchObject({ name: 'Source', description: 'of it', graph, checks });
    const renamed = await call('POST', '/api/templates', {
      workflow_id: workflow.id,
      name: 'Copy',
      sample_input: { a: 1 },
    });
    expect(renamed.body).toMatchObject({ name: 'Copy', graph, sample_input: { a: 1 } });
    const unknown = await call('POST', '/api/templates', { workflow_id: 'wf_unknown' });
    expect([unknown.status, unknown.body]).toEqual([404, { detail: 'Workflow not found' }]);
  });

  test('updates the given fields, with an audit entry only for a change', async () => {
    const { body } = await call('POST', '/api/templates', { name: 'Before', graph, checks });
    const changed = await call('PUT', `/api/templates/${body.id}`, {
      name: 'After',
      checks: [],
      graph: { edges: [], nodes: graph.nodes },
    });
    expect(changed.body).toEqual({ ...body, name: 'After', checks: [], etag: expect.any(String) });
    const entry = await lastEntry();
    expect(entry).toMatchObject({ action: 'update', details: { changed: ['name', 'checks'] } });
    await call('PUT', `/api/templates/${body.id}`, { name: 'After' });
    expect((await lastEntry()).id).toBe(entry.id);
  });

  test('creates a renamed workflow, with the template in its audit entry', async () => {
    const { body: template } = await call('POST', '/api/templates', { name: 'T', graph, checks });
    const { body } = await call('POST', `/api/templates/${template.id}/instantiate`, {
      name: 'W',
      description: 'mine',
    });
    expect(body).toMatchObject({ name: 'W', description: 'mine', graph, checks });
    expect(await lastEntry()).toMatchObject({
      action: 'create',
      target_type: 'workflow',
      target_id: body.id,
      details: { name: 'W', template_id: template.id },
    });
    await call('DELETE', `/api/templates/${template.id}`);
    expect((await call('GET', `/api/workflows/${body.id}`)).status).toBe(200);
  });

  test('carries limits from a workflow to the workflows that are created from it', async () => {
    const limits = {
      concurrency: { limit: 1, key: '{customer}', on_limit: 'reject' },
      rate: null,
      priority: 'default(level, 0)',
    };
    const { body: source } = await call('POST', '/api/workflows', { name: 'Limited', graph });
    await call('PUT', `/api/workflows/${source.id}/limits`, limits);
    const { body: saved } = await call('POST', '/api/templates', { workflow_id: source.id });
    const { body: given } = await call('POST', '/api/templates', { name: 'G', graph, limits });
    expect([saved.limits, given.limits]).toMatchObject([limits, limits]);
    const { body: made } = await call('POST', `/api/templates/${saved.id}/instantiate`);
    expect(await lastEntry()).toMatchObject({
      action: 'limits_update',
      target_id: made.id,
      details: { to: limits },
    });
    expect((await call('GET', `/api/workflows/${made.id}/limits`)).body).toMatchObject(limits);
    const graphWithGate = { nodes: [{ id: 'ok', kind: 'human_gate', prompt: '?' }], edges: [] };
    await call('PUT', `/api/workflows/${made.id}`, { graph: graphWithGate });
    const trigger = () => call('POST', `/api/workflows/${made.id}/runs`, { customer: 'acme' });
    expect([(await trigger()).status, (await trigger()).status]).toEqual([201, 409]);
    const changed = await call('PUT', `/api/templates/${saved.id}`, { limits: null });
    expect(changed.body.limits).toBeNull();
    const { body: free } = await call('POST', `/api/templates/${saved.id}/instantiate`);
    expect((await call('GET', `/api/workflows/${free.id}/limits`)).body.concurrency).toBeNull();
  });

  test('refuses limits that no run of its workflows could have', async () => {
    const schema = {
      ...{ type: 'object', additionalProperties: false },
      properties: { customer: { type: 'string' } },
    };
    const limits = { concurrency: { limit: 1, key: '{client}' } };
    const wrong =
      "Invalid body: concurrency.key reads '{client}', but the input of the workflow has only customer";
    const body = { name: 'T', graph, input_schema: schema };
    const refused = await call('POST', '/api/templates', { ...body, limits });
    expect([refused.status, refused.body.detail]).toEqual([400, wrong]);
    const { body: template } = await call('POST', '/api/templates', body);
    const path = `/api/templates/${template.id}`;
    expect((await call('PUT', path, { limits })).body.detail).toBe(wrong);
    expect((await call('PUT', path, { limits, input_schema: null })).status).toBe(200);
    expect((await call('PUT', path, { input_schema: schema })).body.detail).toBe(wrong);
    expect((await call('PUT', path, { limits: { priority: '1 +' } })).body.detail).toMatch(
      /^Invalid body: priority /,
    );
  });
});
