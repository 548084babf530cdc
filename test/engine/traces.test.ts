import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { agentPlace, runPlaces } from '#shared/platform/tracing/run-places.ts';
import { readRunStatus } from '#shared/db/runs/runs.ts';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { type ExportedSpan, startCollector } from '#test/fakes/collector.ts';
import { startModelServer } from '#test/support/model-server.ts';
import { startListingServer } from '#test/fakes/listing-server.ts';
import { startToolServer } from '#test/fakes/tool-server.ts';
import { chain, echo, edge, eventually, mock, useEngine } from '#test/support/engine.ts';
import {
  startApiProcess,
  startWorkerProcess,
  type TestApi,
  type TestProcess,
} from '#test/support/processes.ts';
import { soakDescribe, soakTest } from '#test/support/soak.ts';
import { useStage } from '#test/support/stage.ts';

const KEY = 'sk-test-canary-key';
const PROMPT = 'canary-prompt';
const ANSWER = 'canary-answer';
const RESULT = 'canary-result';
const HEADER = 'canary-header';

let api: TestApi;
const workers: TestProcess[] = [];
afterAll(() => Promise.all([api.stop(), ...workers.map((worker) => worker.stop())]));
const engine = useEngine({ worker: false });
const collector = useStage(startCollector);
const models = useStage(startModelServer);
const tools = useStage(startToolServer);
const listing = useStage(() =>
  startListingServer([{ name: 'stock', inputSchema: { type: 'object' } }]),
);

const environment = () => ({
  ...engine.env,
  OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
  OTEL_EXPORTER_OTLP_HEADERS: 'x-collector-key=abc',
  OTEL_RESOURCE_ATTRIBUTES: 'deployment.environment.name=test',
  OTEL_BSP_SCHEDULE_DELAY: '50',
  ENCRYPTION_KEY: 'a key of this test, long enough',
  OPENAI_API_KEY: KEY,
  OPENAI_BASE_URL: `${models.url}/v1`,
});

async function startWorker(env: Record<string, string> = {}): Promise<TestProcess> {
  const worker = await startWorkerProcess({ ...environment(), ...env });
  workers.push(worker);
  return worker;
}

beforeAll(async () => {
  models.answers.push({ text: ANSWER, usage: { prompt_tokens: 1_000, completion_tokens: 100 } });
  [api] = await Promise.all([startApiProcess(environment()), startWorker()]);
}, 60_000);

async function call(method: string, path: string, body?: unknown, headers = {}): Promise<any> {
  const response = await fetch(`${api.url}/api${path}`, {
    method,
    headers: { ...(body === undefined ? {} : { 'content-type': 'application/json' }), ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  expect(response.status).toBeLessThan(300);
  return response.json();
}

const define = (graph: GraphInput) => engine.define(graph, 'Traced');
const start = async (workflowId: string, headers = {}): Promise<string> =>
  (await call('POST', `/workflows/${workflowId}/runs`, { input: {} }, headers)).run_id;
const paused = (runId: string): Promise<void> => {
  const { workspaceId } = engine.actor;
  const isPaused = async () =>
    (await readRunStatus(engine.db, { workspaceId, runId })) === 'paused';
  return eventually(isPaused, 30_000);
};
const spansOf = (runId: string): ExportedSpan[] =>
  collector.spans.filter((span) => span.traceId === runPlaces(runId, 0).run.traceId);
const named = (runId: string, name: string): ExportedSpan[] =>
  spansOf(runId).filter((span) => span.name === name);
const arrived = (runId: string, ...names: string[]) =>
  eventually(() => names.every((name) => named(runId, name).length > 0));

/** The names from the root of a trace to a span. */
function pathOf(span: ExportedSpan): string[] {
  const parent = collector.spans.find((each) => each.spanId === span.parentSpanId);
  if (parent === undefined) return [span.parentSpanId === '' ? '' : 'missing', span.name];
  return [...pathOf(parent), span.name];
}
const paths = (runId: string): string[] =>
  spansOf(runId)
    .map((span) => pathOf(span).join(' > '))
    .sort();

const START = ' > POST /api/workflows/:id/runs > start_run';
const RUN = `${START} > invoke_workflow Traced`;

test('a run is one trace, from the request to the calls of models and tools', async () => {
  const workflowId = await define({
    nodes: [
      { id: 'ask', kind: 'agent', model: 'openai/gpt-4o', prompt: PROMPT, label: 'Triage' },
      mock('short', { output: ANSWER, cost_usd: 0.25 }),
      tools.node('lookup'),
      echo('pure', `'${RESULT}'`),
      { id: 'gate', kind: 'human_gate', prompt: PROMPT },
    ],
    edges: [
      edge('ask', 'short'),
      edge('short', 'lookup'),
      edge('lookup', 'gate'),
      edge('gate', 'pure'),
    ],
  } as never);
  tools.answer('lookup', { body: { result: RESULT } });
  const runId = await start(workflowId);
  await paused(runId);
  await call('POST', `/runs/${runId}/approve`, { approved: true, reason: PROMPT });
  const run = await engine.until(runId, ['success']);
  await arrived(runId, 'invoke_workflow Traced', 'POST /api/runs/:id/approve', 'step pure');

  expect(paths(runId)).toEqual(
    [
      ' > POST /api/workflows/:id/runs',
      START,
      `${START} > POST /api/runs/:id/approve`,
      RUN,
      `${RUN} > step ask`,
      `${RUN} > step ask > invoke_agent Triage`,
      `${RUN} > step ask > invoke_agent Triage > chat gpt-4o`,
      `${RUN} > step lookup`,
      `${RUN} > step lookup > execute_tool http_request`,
      `${RUN} > step pure`,
      `${RUN} > step pure > execute_tool json_transform`,
      `${RUN} > step short`,
      `${RUN} > step short > invoke_agent short`,
      `${RUN} > step short > invoke_agent short > chat mock`,
    ].sort(),
  );
  expect(named(runId, 'invoke_workflow Traced')).toEqual([
    expect.objectContaining({
      service: 'durable-workflows-worker',
      failed: false,
      attributes: {
        'gen_ai.operation.name': 'invoke_workflow',
        'gen_ai.agent.name': 'Traced',
        'ops.workspace_id': engine.actor.workspaceId,
        'ops.workflow_id': workflowId,
        'ops.workflow_version': 1,
        'ops.run_id': runId,
        'ops.trigger': 'manual',
        'ops.status': 'success',
        'ops.resumed_count': 0,
        'ops.cost_usd': 0.2535,
      },
    }),
  ]);
  const [whole] = named(runId, 'invoke_workflow Traced');
  expect(Math.floor(whole!.start)).toBe(Date.parse(run.created_at));
  expect(Math.floor(whole!.end)).toBe(Date.parse(run.finished_at!));
  expect(named(runId, 'step ask')[0]).toMatchObject({
    kind: 1,
    attributes: {
      'ops.run_id': runId,
      'ops.node_id': 'ask',
      'ops.node_label': 'Triage',
      'ops.node_kind': 'agent',
      'ops.step_key': 'ask',
      'ops.attempt': 1,
      'ops.outcome': 'success',
    },
  });
  expect(named(runId, 'chat gpt-4o')[0]).toMatchObject({
    kind: 3,
    attributes: {
      'gen_ai.operation.name': 'chat',
      'gen_ai.provider.name': 'openai',
      'gen_ai.request.model': 'gpt-4o',
      'gen_ai.usage.input_tokens': 1_000,
      'gen_ai.usage.output_tokens': 100,
      'ops.cost_usd': 0.0035,
    },
  });
  expect(named(runId, 'chat mock')[0]!.attributes['ops.cost_usd']).toBe(0.25);
  expect(named(runId, 'execute_tool http_request')[0]!.attributes).toMatchObject({
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'http_request',
  });
  const [request] = named(runId, 'POST /api/workflows/:id/runs');
  expect(request).toMatchObject({
    service: 'durable-workflows-api',
    resource: { 'deployment.environment.name': 'test' },
    kind: 2,
    attributes: {
      'http.request.method': 'POST',
      'http.route': '/api/workflows/:id/runs',
      'http.response.status_code': 201,
      'ops.workspace_id': engine.actor.workspaceId,
    },
  });
  for (const span of spansOf(runId)) expect(span.end).toBeGreaterThanOrEqual(span.start);
}, 60_000);

test("a caller's trace keeps its request, and is linked with the run's in both directions", async () => {
  const traceId = 'c'.repeat(32);
  const traceparent = `00-${traceId}-${'d'.repeat(16)}-01`;
  const runId = await start(await define(chain(echo('a'))), { traceparent });
  await engine.until(runId, ['success']);
  await arrived(runId, 'invoke_workflow Traced', 'start_run');
  const request = () => collector.spans.find((span) => span.traceId === traceId);
  await eventually(() => request() !== undefined);
  const { start: place } = runPlaces(runId, 0);
  expect(request()).toMatchObject({ parentSpanId: 'd'.repeat(16), links: [place] });
  expect(named(runId, 'start_run')[0]).toMatchObject({
    parentSpanId: '',
    links: [{ traceId, spanId: request()!.spanId }],
  });
  expect(paths(runId)).toContain(' > start_run > invoke_workflow Traced > step a');
}, 30_000);

test('a resumed run keeps its trace, with a span for each end', async () => {
  const workflowId = await define(chain(echo('a'), tools.node('fragile')));
  tools.answer('fragile', { status: 400, body: { error: RESULT } });
  const runId = await start(workflowId);
  await engine.until(runId, ['failed']);
  await arrived(runId, 'invoke_workflow Traced');
  tools.answer('fragile', {});
  await call('POST', `/runs/${runId}/resume`);
  const run = await engine.until(runId, ['success'], 30_000);
  await eventually(() => named(runId, 'invoke_workflow Traced').length === 2);
  await arrived(runId, 'POST /api/runs/:id/resume');

  const resumed = `${START} > POST /api/runs/:id/resume > resume_run`;
  expect(paths(runId)).toEqual(
    [
      ' > POST /api/workflows/:id/runs',
      START,
      RUN,
      `${RUN} > step a`,
      `${RUN} > step a > execute_tool json_transform`,
      `${RUN} > step fragile`,
      `${RUN} > step fragile > execute_tool http_request`,
      `${START} > POST /api/runs/:id/resume`,
      resumed,
      `${resumed} > invoke_workflow Traced`,
      `${resumed} > invoke_workflow Traced > step fragile`,
      `${resumed} > invoke_workflow Traced > step fragile > execute_tool http_request`,
    ].sort(),
  );
  const [failed, succeeded] = named(runId, 'invoke_workflow Traced').sort((a, b) => a.end - b.end);
  expect(failed).toMatchObject({
    failed: true,
    attributes: { 'ops.status': 'failed', 'error.type': 'node', 'ops.resumed_count': 0 },
  });
  expect(succeeded).toMatchObject({
    failed: false,
    attributes: { 'ops.status': 'success', 'ops.resumed_count': 1 },
  });
  expect(Math.floor(succeeded!.end)).toBe(Date.parse(run.finished_at!));
  expect(succeeded!.start).toBeGreaterThanOrEqual(failed!.end);
  const steps = named(runId, 'step fragile').sort((a, b) => a.start - b.start);
  expect(
    steps.map(({ failed: isError, attributes }) => [isError, attributes['ops.outcome']]),
  ).toEqual([
    [true, 'failed'],
    [false, 'success'],
  ]);
}, 60_000);

describe('an agent with tools has one span over its turns and calls', () => {
  const agent = (tool: object, ...turns: object[]) =>
    chain({
      id: 'clerk',
      kind: 'agent',
      label: 'Clerk',
      prompt: PROMPT,
      tools: [tool],
      mock: { turns },
    });
  const fetching = (name: string) => ({
    name: 'http_request',
    ['fixed']: { url: `${tools.url}/${name}`, method: 'POST' },
    on_error: 'fail',
  });
  const fetchOnce = [
    { calls: [{ tool: 'http_request', arguments: { body: RESULT } }], cost_usd: 0.02 },
    { output: ANSWER, cost_usd: 0.01 },
  ];

  test('with their tokens and cost, and nothing of headers', async () => {
    const headers = { Authorization: `Bearer ${HEADER}` };
    const input_schema = { type: 'object', properties: { id: { type: 'string' } } };
    const endpoint_url = `${tools.url}/order`;
    await call('POST', '/tools', { name: 'order', endpoint_url, headers, input_schema });
    await call('POST', '/tools/import', { server_url: `${listing.url}/mcp`, headers });
    const usage = { prompt_tokens: 1_000, completion_tokens: 100 };
    const calls = [
      { name: 'custom_order', arguments: { id: RESULT } },
      { name: 'custom_stock', arguments: {} },
      { name: 'http_request', arguments: {} },
    ];
    models.answers.splice(0, Infinity, { calls, usage }, { text: ANSWER, usage });
    const request = { url: `${tools.url}/order`, headers };
    const node = {
      ...{ id: 'triage', kind: 'agent', label: 'Triage', model: 'openai/gpt-4o', prompt: PROMPT },
      tools: ['custom:order', 'custom:stock', { name: 'http_request', ['fixed']: request }],
    };
    const workflowId = await define(chain(node as never));
    const runId = await start(workflowId);
    const run = await engine.until(runId, ['success']);
    await arrived(runId, 'invoke_agent Triage', 'POST /api/workflows/:id/runs');
    const sent = [...tools.calls('order'), ...listing.requests('tools/call')];
    expect(sent.map((each) => each.headers['authorization'])).toEqual(
      Array(3).fill(headers.Authorization),
    );

    const whole = `${RUN} > invoke_agent Triage`;
    expect(paths(runId).filter((path) => path.startsWith(whole))).toEqual(
      [
        whole,
        ...Array(5).fill(`${whole} > step triage`),
        ...Array(2).fill(`${whole} > step triage > chat gpt-4o`),
        `${whole} > step triage > execute_tool custom:order`,
        `${whole} > step triage > execute_tool custom:stock`,
        `${whole} > step triage > execute_tool http_request`,
      ].sort(),
    );
    expect(paths(runId)).toHaveLength(14);
    const { cost_usd, usage: added } = run.steps.find(({ step_key }) => step_key === 'triage')!;
    expect([cost_usd, added]).toEqual([0.007, { input_tokens: 2_000, output_tokens: 200 }]);
    expect(named(runId, 'invoke_agent Triage')).toEqual([
      expect.objectContaining({
        ...agentPlace(runId, 0, 'triage'),
        kind: 1,
        failed: false,
        attributes: {
          'gen_ai.operation.name': 'invoke_agent',
          'gen_ai.agent.name': 'Triage',
          'gen_ai.provider.name': 'openai',
          'gen_ai.request.model': 'gpt-4o',
          'gen_ai.usage.input_tokens': 2_000,
          'gen_ai.usage.output_tokens': 200,
          'ops.run_id': runId,
          'ops.workflow_id': workflowId,
          'ops.workspace_id': engine.actor.workspaceId,
          'ops.node_id': 'triage',
          'ops.step_key': 'triage',
          'ops.turns': 2,
          'ops.tool_calls': 3,
          'ops.outcome': 'success',
          'ops.cost_usd': 0.007,
        },
      }),
    ]);
    const [span] = named(runId, 'invoke_agent Triage');
    for (const step of named(runId, 'step triage')) {
      expect(step.start).toBeGreaterThanOrEqual(Math.floor(span!.start));
      expect(step.end).toBeLessThanOrEqual(Math.ceil(span!.end) + 1);
    }
  }, 60_000);

  soakTest('and another one after a resume, which adds up the whole agent', 60_000, async () => {
    tools.answer('fragile', { status: 400, body: { error: RESULT } });
    const runId = await start(await define(agent(fetching('fragile'), ...fetchOnce)));
    await engine.until(runId, ['failed']);
    await arrived(runId, 'invoke_agent Clerk');
    tools.answer('fragile', {});
    await call('POST', `/runs/${runId}/resume`);
    await engine.until(runId, ['success'], 30_000);
    await eventually(() => named(runId, 'invoke_agent Clerk').length === 2);
    await arrived(runId, 'POST /api/runs/:id/resume');

    const resumed = `${START} > POST /api/runs/:id/resume > resume_run > invoke_workflow Traced`;
    const tool = 'step clerk > execute_tool http_request';
    const chat = 'step clerk > chat mock';
    expect(paths(runId).filter((path) => / > (chat|execute_tool)/.test(path))).toEqual(
      [
        `${RUN} > invoke_agent Clerk > ${chat}`,
        `${RUN} > invoke_agent Clerk > ${tool}`,
        `${resumed} > invoke_agent Clerk > ${chat}`,
        `${resumed} > invoke_agent Clerk > ${tool}`,
      ].sort(),
    );
    const spans = named(runId, 'invoke_agent Clerk').sort((a, b) => a.end - b.end);
    expect(spans).toEqual([
      expect.objectContaining({
        ...agentPlace(runId, 0, 'clerk'),
        failed: true,
        attributes: expect.objectContaining({
          'error.type': 'node',
          'ops.outcome': 'failed',
          'ops.turns': 1,
          'ops.cost_usd': 0.02,
        }),
      }),
      expect.objectContaining({
        ...agentPlace(runId, 1, 'clerk'),
        failed: false,
        attributes: expect.objectContaining({
          'ops.outcome': 'success',
          'ops.turns': 2,
          'ops.tool_calls': 1,
          'ops.cost_usd': 0.03,
        }),
      }),
    ]);
    expect(spans[1]!.start).toBeGreaterThanOrEqual(spans[0]!.end);
  });

  soakTest('also if its run is cancelled while a call waits, and resumed', 60_000, async () => {
    const tool = { ...fetching('quiet'), approval: 'always' };
    const runId = await start(await define(agent(tool, ...fetchOnce)));
    await paused(runId);
    await call('POST', `/runs/${runId}/cancel`);
    await arrived(runId, 'invoke_agent Clerk');
    await call('POST', `/runs/${runId}/resume`);
    await paused(runId);
    const { pending_gate: gate } = await call('GET', `/runs/${runId}`);
    await call('POST', `/runs/${runId}/approve`, { digest: gate.tool_call.digest });
    await engine.until(runId, ['success'], 30_000);
    await eventually(() => named(runId, 'invoke_agent Clerk').length === 2);
    const spans = named(runId, 'invoke_agent Clerk').sort((a, b) => a.end - b.end);
    expect(
      spans.map(({ spanId, failed, attributes }) => [spanId, failed, attributes['ops.outcome']]),
    ).toEqual([
      [agentPlace(runId, 0, 'clerk').spanId, false, 'cancelled'],
      [agentPlace(runId, 1, 'clerk').spanId, false, 'success'],
    ]);
    expect(paths(runId).filter((path) => path.includes('missing'))).toEqual([]);
  });

  soakTest('also when its worker is killed', 90_000, async () => {
    await Promise.all(workers.splice(0).map((worker) => worker.stop()));
    const first = await startWorker();
    const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
    tools.answer('slow', { until: released });
    const runId = await start(await define(agent(fetching('slow'), ...fetchOnce)));
    await eventually(() => tools.calls('slow').length === 1);
    await first.kill();
    workers.splice(0);
    release(undefined);
    await startWorker();
    await engine.until(runId, ['success'], 40_000);
    await arrived(runId, 'invoke_agent Clerk');
    expect(named(runId, 'invoke_agent Clerk')).toEqual([
      expect.objectContaining({
        ...agentPlace(runId, 0, 'clerk'),
        attributes: expect.objectContaining({ 'ops.turns': 2, 'ops.cost_usd': 0.03 }),
      }),
    ]);
  });
});

soakDescribe('the span of a run is recorded once', () => {
  const waiting = async (): Promise<string> => {
    const gate = { id: 'gate', kind: 'human_gate', prompt: PROMPT };
    const runId = await start(await define(chain(gate) as never));
    await paused(runId);
    return runId;
  };
  const endOf = async (runId: string): Promise<ExportedSpan[]> => {
    await engine.until(runId, ['failed']);
    await arrived(runId, 'invoke_workflow Traced');
    return named(runId, 'invoke_workflow Traced');
  };

  test('by the API for a cancel', async () => {
    const runId = await waiting();
    await call('POST', `/runs/${runId}/cancel`);
    expect(await endOf(runId)).toEqual([
      expect.objectContaining({
        service: 'durable-workflows-api',
        attributes: expect.objectContaining({ 'error.type': 'cancelled' }),
      }),
    ]);
    await arrived(runId, 'POST /api/runs/:id/cancel');
    expect(paths(runId)).toContain(`${START} > POST /api/runs/:id/cancel`);
  }, 30_000);

  test.each(['cancel', 'terminate'] as const)(
    'by a worker after a %s in Temporal',
    async (how) => {
      const runId = await waiting();
      await engine.deps.temporal.client.workflow.getHandle(runId)[how]();
      expect(await endOf(runId)).toEqual([
        expect.objectContaining({
          service: 'durable-workflows-worker',
          failed: true,
          attributes: expect.objectContaining({ 'ops.status': 'failed' }),
        }),
      ]);
    },
    60_000,
  );
});

test('headers of tools are not in any span, even if a server repeats them', async () => {
  const echoed = { status: 400, body: { error: `Bearer ${HEADER} is not valid` } };
  for (const name of ['echoed', 'mcp']) tools.answer(name, echoed);
  const headers = { Authorization: `Bearer ${HEADER}`, 'X-Api-Key': HEADER };
  const endpoint_url = `${tools.url}/echoed`;
  await call('POST', '/tools', { name: 'echoed', endpoint_url, headers, retry_count: 0 });
  const calls: [string, object][] = [
    ['custom:echoed', {}],
    ['http_request', { url: endpoint_url, method: 'POST', headers }],
    ['mcp', { server_url: `${tools.url}/mcp`, tool: 'stock', headers }],
  ];
  for (const [tool_name, params] of calls) {
    const node = { id: 'call', kind: 'tool', tool_name, params } as never;
    const runId = await start(await define(chain(node)));
    await engine.until(runId, ['failed'], 30_000);
    await arrived(runId, 'step call', 'invoke_workflow Traced', 'start_run');
    expect(named(runId, `execute_tool ${tool_name}`)).toHaveLength(1);
  }
  const sent = [...tools.calls('echoed'), ...tools.calls('mcp')];
  expect(sent.filter((each) => each.headers['x-api-key'] === HEADER).length).toBeGreaterThan(2);
  expect(collector.received()).not.toContain(HEADER);
  expect(JSON.stringify(collector.spans)).not.toMatch(/authorization|x-api-key/i);
}, 60_000);

test('requests that concern no run have their own traces, and probes have none', async () => {
  await call('GET', '/workflows');
  await call('GET', '/health');
  await eventually(() => collector.spans.some((span) => span.name === 'GET /api/workflows'));
  const [request] = collector.spans.filter((span) => span.name === 'GET /api/workflows');
  expect(request).toMatchObject({ parentSpanId: '', links: [] });
  expect(collector.spans.filter((span) => span.name.endsWith('/health'))).toEqual([]);
});

test('nothing that was exported contains content or a secret', () => {
  for (const text of [PROMPT, ANSWER, RESULT, KEY, HEADER]) {
    expect(collector.received()).not.toContain(text);
  }
  expect(collector.received()).toContain('"x-collector-key":"abc"');
});

soakTest('a killed worker loses only the spans that it had not sent', 90_000, async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  const slow = await startWorker({ OTEL_BSP_SCHEDULE_DELAY: '600000' });
  const { promise: released, resolve: release } = Promise.withResolvers<undefined>();
  tools.answer('held', { until: released });
  const runId = await start(await define(chain(echo('before'), tools.node('held'), echo('after'))));
  await eventually(() => tools.calls('held').length === 1);
  await slow.kill();
  workers.splice(0);
  release(undefined);
  await startWorker();
  await engine.until(runId, ['success'], 40_000);
  await arrived(runId, 'invoke_workflow Traced', 'step after');
  expect(paths(runId).filter((path) => path.includes('step'))).toEqual([
    `${RUN} > step after`,
    `${RUN} > step after > execute_tool json_transform`,
    `${RUN} > step held`,
    `${RUN} > step held > execute_tool http_request`,
  ]);
  expect(named(runId, 'step held')[0]!.attributes['ops.attempt']).toBe(2);
});

test('no span was sent twice', () => {
  const ids = collector.spans.map((span) => span.spanId);
  expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
  const ends = collector.spans.filter((span) => span.name === 'invoke_workflow Traced');
  const ended = ends.map(({ attributes }) =>
    [attributes['ops.run_id'], attributes['ops.resumed_count']].join(),
  );
  expect(new Set(ended).size).toBe(ends.length);
});

soakTest('a worker that stops sends its last spans', 60_000, async () => {
  await Promise.all(workers.splice(0).map((worker) => worker.stop()));
  const slow = await startWorker({ OTEL_BSP_SCHEDULE_DELAY: '600000' });
  const runId = await start(await define(chain(echo('a'))));
  await engine.until(runId, ['success']);
  expect(named(runId, 'step a')).toEqual([]);
  await slow.stop();
  workers.splice(0);
  expect(named(runId, 'step a')).toHaveLength(1);
});

soakTest('without a collector no process loads the SDK of OpenTelemetry', 120_000, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'modules-'));
  const hooks = pathToFileURL(join(import.meta.dirname, '../fixtures/loaded-modules.mjs')).href;
  const loadedBy = async (env: Record<string, string>): Promise<string[]> => {
    const file = join(folder, 'loaded');
    writeFileSync(file, '');
    const all = { ...env, LOADED_MODULES_FILE: file, NODE_OPTIONS: `--import ${hooks}` };
    for (const process of [await startApiProcess(all), await startWorkerProcess(all)]) {
      await process.stop();
    }
    const urls = readFileSync(file, 'utf8').split('\n').filter(Boolean);
    return [...new Set(urls.map((url) => /@opentelemetry\/([^/]+)/.exec(url)?.[1] ?? url))].sort();
  };
  // The metrics package loads the API, which is a few interfaces without effect.
  expect(await loadedBy(engine.env)).toEqual(['api']);
  expect(await loadedBy(environment())).toContain('sdk-trace');
  await rm(folder, { recursive: true });
});
