import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/client';
import { z } from 'zod';
import { tools } from '#api/mcp/server.ts';
import {
  capabilities,
  type Capability,
  type CapabilityOverrides,
  type Role,
} from '#shared/people/capabilities.ts';
import { sql } from '#shared/db/pool.ts';
import { newId } from '#shared/crypto/ids.ts';
import { connectMcp, type Generation, generations } from '#test/fakes/mcp-client.ts';
import { echo, edge, eventually, mock } from '#test/support/engine.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { addCaller } from '#test/api/people/caller.ts';

const row = z.object({});

const { engine, call } = useEngineApi();
const mcpUrl = () => `${engine.url}/api/mcp`;

/** A tool's data when it succeeded, otherwise the text of its error. */
const use = async (client: Client, name: string, args: Record<string, unknown> = {}) => {
  const result: any = await client.callTool({ name, arguments: args });
  const [content] = result.content;
  if (result.isError === true) return { error: content.text as string };
  expect(JSON.parse(content.text)).toEqual(result.structuredContent);
  return { data: result.structuredContent };
};
const connect = async (generation?: Generation, headers?: Record<string, string>) => {
  const client = await connectMcp(mcpUrl(), generation, headers);
  // From here on, the client validates results against the output schemas.
  await client.listTools();
  return client;
};

const addMember = (
  role: Role,
  overrides: CapabilityOverrides = {},
  workspaceId = engine.actor.workspaceId,
) => addCaller({ db: engine.db, workspaceId }, { role, overrides });
const addWorkspace = async () => {
  const id = newId('workspace');
  await engine.db.query(sql.type(row)`INSERT INTO workspaces (id, name) VALUES (${id}, 'Other')`);
  return id;
};

const gate = { id: 'gate', kind: 'human_gate', prompt: 'Send {ticket}?' } as const;
// The next step is slow, so that the response to a decision or resume is read first.
const slow = { output: 'x', delay_ms: 500 };
const gated = { nodes: [gate, mock('send', slow)], edges: [edge('gate', 'send')] };
const failing = { nodes: [mock('a', { ...slow, fail_times: 1 })], edges: [] };
const quick = { nodes: [echo('answer', "'re: ' + ticket")], edges: [] };
const broken = { nodes: [echo('a'), echo('b')], edges: [edge('a', 'b'), edge('b', 'a')] };

const lastEntry = async () =>
  engine.db.one(
    sql.type(
      z.object({ action: z.string(), actor_id: z.string().nullable(), target_id: z.string() }),
    )`SELECT action, actor_id, target_id FROM audit_log ORDER BY seq DESC LIMIT 1`,
  );

describe.each(generations)('a client of protocol %s', (generation) => {
  let client: Client;
  beforeAll(async () => {
    client = await connect(generation);
  });
  afterAll(async () => client?.close());

  test('negotiates that version', () => {
    expect(client.getNegotiatedProtocolVersion()).toBe(generation);
    expect(client.getServerVersion()).toMatchObject({ title: 'Durable workflows' });
  });

  test('lists every tool with its schemas, annotations and a description', async () => {
    const { tools: listed } = await client.listTools();
    expect(listed.map(({ name }) => name).sort()).toEqual([
      'approve_run',
      'assign_gate',
      'backtest_policies',
      'cancel_backtest',
      'cancel_event_replay',
      'cancel_experiment',
      'cancel_run',
      'configure_inbound_webhook',
      'create_budget',
      'create_event_trigger',
      'create_schedule',
      'create_webhook',
      'create_workflow',
      'delete_budget',
      'delete_event_trigger',
      'delete_schedule',
      'delete_webhook',
      'discard_draft',
      'dry_run_workflow',
      'explain_validation',
      'fork_run',
      'get_alerts',
      'get_backtest',
      'get_draft',
      'get_event',
      'get_event_replay',
      'get_experiment',
      'get_gate',
      'get_inbound_event',
      'get_inbound_webhook',
      'get_limits',
      'get_run',
      'get_usage',
      'get_workflow',
      'import_tools',
      'list_budgets',
      'list_connections',
      'list_custom_tools',
      'list_event_triggers',
      'list_experiments',
      'list_inbound_events',
      'list_pins',
      'list_queues',
      'list_runs',
      'list_schedules',
      'list_secrets',
      'list_webhook_deliveries',
      'list_webhooks',
      'list_workflows',
      'pin_output',
      'publish_draft',
      'redeliver_webhook',
      'redeliver_webhook_range',
      'refresh_tool',
      'replay_inbound_event',
      'replay_inbound_events',
      'rerun_run',
      'resume_run',
      'rotate_webhook_secret',
      'run_workflow',
      'save_draft',
      'send_event',
      'set_checks',
      'set_limits',
      'start_experiment',
      'test_node',
      'test_webhook',
      'unpin_output',
      'update_budget',
      'update_event_trigger',
      'update_schedule',
      'update_webhook',
      'update_workflow',
      'validate_workflow',
    ]);
    for (const tool of listed) {
      expect(tool.inputSchema).toMatchObject({ type: 'object', additionalProperties: false });
      expect(tool.outputSchema).toMatchObject({ type: 'object' });
      expect(tool.description!.length).toBeGreaterThan(50);
      const { readOnlyHint, openWorldHint } = tool.annotations!;
      expect([typeof readOnlyHint, typeof openWorldHint]).toEqual(['boolean', 'boolean']);
      if (readOnlyHint === false) {
        const { destructiveHint, idempotentHint } = tool.annotations!;
        expect([typeof destructiveHint, typeof idempotentHint]).toEqual(['boolean', 'boolean']);
      }
    }
  });

  test('runs a workflow by name and waits for its output', async () => {
    const name = `Quick ${generation}`;
    const id = await engine.define(quick, name);
    const { data } = await use(client, 'run_workflow', {
      workflow: name,
      input: { ticket: 'hello' },
      wait_seconds: 20,
    });
    expect(data).toMatchObject({
      workflow_id: id,
      status: 'success',
      trigger: 'mcp',
      output: { answer: 're: hello' },
      replayed: false,
    });
    const { data: read } = await use(client, 'get_run', { run_id: data.id });
    expect(read).toEqual(await engine.run(data.id));
  });

  test('gets a protocol error for an unknown tool', async () => {
    await expect(client.callTool({ name: 'drop_tables', arguments: {} })).rejects.toThrow(
      /Unknown tool: drop_tables|not found/,
    );
  });

  test('that aborts a call leaves its run active', async () => {
    const workflow = await engine.define({
      nodes: [{ id: 'd', kind: 'tool', tool_name: 'delay', params: { seconds: 20 } }],
      edges: [],
    });
    const impatient = new AbortController();
    const call = client.callTool(
      { name: 'run_workflow', arguments: { workflow, wait_seconds: 20 } },
      { signal: impatient.signal },
    );
    const runs = async () => (await use(client, 'list_runs', { workflow })).data.runs;
    await eventually(async () => (await runs()).length === 1);
    impatient.abort();
    await expect(call).rejects.toThrow();
    const [run] = await runs();
    expect(['pending', 'running']).toContain(run.status);
    await use(client, 'cancel_run', { run_id: run.id });
  });
});

describe('the tools', () => {
  let client: Client;
  beforeAll(async () => {
    client = await connect();
  });
  afterAll(async () => client?.close());

  test('runs the draft of a workflow on request', async () => {
    const workflow = await engine.define({ nodes: [echo('a', '1')], edges: [] }, 'Drawn');
    const given = { workflow, draft: true, wait_seconds: 20 };
    expect(await use(client, 'run_workflow', given)).toEqual({ error: 'Draft not found' });
    await use(client, 'save_draft', { workflow, graph: { nodes: [echo('a', '2')], edges: [] } });
    const { data: drawn } = await use(client, 'run_workflow', given);
    expect(drawn).toMatchObject({ of_draft: true, status: 'success', output: { a: 2 } });
    const { data: current } = await use(client, 'run_workflow', { ...given, draft: false });
    expect(current).toMatchObject({ of_draft: false, output: { a: 1 } });
  });

  test('pins the output of a node, tests another with it, and unpins it', async () => {
    const workflow = await engine.define(
      { nodes: [echo('a', '1'), echo('b', 'a + 1')], edges: [edge('a', 'b')] },
      'Pinned',
    );
    const given = { workflow, input: {}, wait_seconds: 20 };
    const { data: run } = await use(client, 'run_workflow', given);
    const other = await engine.trigger(workflow, {});
    await engine.until(other, ['success']);
    const pin = { workflow, node_id: 'a', run_id: run.id };
    expect((await use(client, 'pin_output', pin)).data).toMatchObject({
      node_id: 'a',
      run_id: run.id,
      step_key: 'a',
      bytes: 1,
    });
    expect((await use(client, 'list_pins', { workflow })).data.pins).toHaveLength(1);
    const tested = { workflow, node_id: 'b', run_id: other, pins: true };
    expect((await use(client, 'test_node', tested)).data).toMatchObject({
      status: 'success',
      step: { output: 2 },
    });
    const { run_id: _run, ...alone } = { ...tested, state: { a: 1 } };
    expect((await use(client, 'test_node', alone)).error).toContain('pins needs run_id');
    expect((await use(client, 'unpin_output', { workflow, node_id: 'a' })).data).toEqual({
      removed: true,
    });
    expect(await use(client, 'unpin_output', { workflow, node_id: 'a' })).toEqual({
      error: 'Pin not found',
    });
  });

  test('gets a pending run without wait_seconds, and one run per idempotency key', async () => {
    const workflow = await engine.define(gated);
    const args = { workflow, input: { ticket: 'x' }, idempotency_key: 'once' };
    const { data: first } = await use(client, 'run_workflow', args);
    expect(first).toMatchObject({ status: 'pending', replayed: false });
    const { data: again } = await use(client, 'run_workflow', args);
    expect([again.id, again.replayed]).toEqual([first.id, true]);
    const { data: list } = await use(client, 'list_runs', { workflow, trigger: 'mcp' });
    expect(list.runs.map(({ id }: any) => id)).toEqual([first.id]);
    expect(await use(client, 'run_workflow', { ...args, input: {} })).toEqual({
      error: 'This Idempotency-Key was used with another input; use a new key for a new run',
    });
  });

  test('shares a run with the calls before it under a debounce', async () => {
    const workflow = await engine.define(quick);
    const limits = { workflow, debounce: { seconds: 600, key: '{ticket.id}' } };
    expect((await use(client, 'set_limits', limits)).data).toMatchObject({
      debounce: limits.debounce,
    });
    const ticket = (id: string, text: string) => ({ workflow, input: { ticket: { id, text } } });
    const { data: first } = await use(client, 'run_workflow', ticket('a', 'one'));
    expect(first).toMatchObject({ status: 'pending', queued: { for: 'debounce', key: 'a' } });
    expect(first).not.toHaveProperty('joined');
    const { data: second } = await use(client, 'run_workflow', ticket('a', 'two'));
    expect(second).toMatchObject({ id: first.id, replayed: false, joined: true });
    const { data: other } = await use(client, 'run_workflow', ticket('b', 'three'));
    expect(other.id).not.toBe(first.id);
    const { data: run } = await use(client, 'get_run', { run_id: first.id });
    expect(run.input).toEqual({ ticket: { id: 'a', text: 'two' } });
  });

  test('stops waiting at a gate and can approve it', async () => {
    const workflow = await engine.define(gated);
    const { data: paused } = await use(client, 'run_workflow', {
      workflow,
      input: { ticket: 'x' },
      wait_seconds: 20,
    });
    expect(paused).toMatchObject({ status: 'paused', pending_gates: [{ prompt: 'Send x?' }] });
    const { step_key } = paused.pending_gates[0];
    const { data: asked } = await use(client, 'get_gate', { run_id: paused.id, step_key });
    expect(asked).toMatchObject({ prompt: 'Send x?', status: 'open', can_decide: true });
    const answer = { run_id: paused.id, input: { note: 'fine' }, reason: 'She has read it' };
    expect(await use(client, 'approve_run', answer)).toEqual({
      error:
        "Gate 'gate' has a digest: call get_gate, show the person what the answer sets in motion, and send the digest",
    });
    expect(await use(client, 'approve_run', { run_id: paused.id, approved: false })).toEqual({
      error: expect.stringContaining('call get_gate'),
    });
    const { digest } = asked;
    const { data: approved } = await use(client, 'approve_run', { ...answer, digest });
    expect(approved.status).toBe('running');
    const done = await engine.until(paused.id, ['success']);
    expect(done.state).toMatchObject({ note: 'fine' });
    expect(done.steps[0]?.decision).toMatchObject({ approved: true, reason: 'She has read it' });
    expect(await use(client, 'approve_run', { run_id: paused.id })).toEqual({
      error: "Gate 'gate' has already been approved by Owner",
    });
  });

  test('resumes a failed run', async () => {
    const workflow = await engine.define(failing);
    const { data: failed } = await use(client, 'run_workflow', { workflow, wait_seconds: 20 });
    expect(failed).toMatchObject({ status: 'failed', resumable: true });
    const { data: resumed } = await use(client, 'resume_run', { run_id: failed.id });
    expect(resumed.status).toBe('running');
    await engine.until(failed.id, ['success']);
    expect(await use(client, 'resume_run', { run_id: failed.id })).toHaveProperty('error');
  });

  test('cancels a run, recording the actor', async () => {
    const workflow = await engine.define(gated);
    const { data: run } = await use(client, 'run_workflow', { workflow, input: { ticket: 'x' } });
    const { data: cancelled } = await use(client, 'cancel_run', { run_id: run.id });
    expect(cancelled).toMatchObject({ status: 'failed', error: 'Cancelled by Owner' });
    expect(await lastEntry()).toEqual({
      action: 'cancel',
      actor_id: engine.actor.id,
      target_id: run.id,
    });
    expect(await use(client, 'cancel_run', { run_id: run.id })).toHaveProperty('error');
  });

  test('reads workflows, their validation errors, and the usage', async () => {
    const id = await engine.define(broken as never, 'Broken');
    const { data: list } = await use(client, 'list_workflows', { search: 'BROKEN' });
    expect(list).toMatchObject({ total: 1, workflows: [{ id }] });
    const { data: workflow } = await use(client, 'get_workflow', { workflow: id });
    expect(workflow).toMatchObject({ id, graph: { nodes: [{ id: 'a' }, { id: 'b' }] } });
    const { data: report } = await use(client, 'validate_workflow', { workflow: id });
    expect(report).toMatchObject({ valid: false, errors: [{ code: 'cycle' }] });
    const refused = await use(client, 'run_workflow', { workflow: id });
    expect(refused.error).toMatch(/^Workflow graph invalid: /);
    const rest = await call('GET', '/api/usage');
    expect((await use(client, 'get_usage')).data).toEqual(rest.body);
  });

  test('gets the errors of the API for invalid arguments', async () => {
    expect(await use(client, 'run_workflow', { workflow: 'Nobody has this name' })).toEqual({
      error: 'Workflow not found',
    });
    expect(await use(client, 'get_run', { run_id: 'run_unknown' })).toEqual({
      error: 'Run not found',
    });
    expect(await use(client, 'get_run')).toEqual({
      error: 'Invalid arguments: run_id is required',
    });
    expect(
      await use(client, 'run_workflow', { workflow: 'x', wait_seconds: 26, inputs: {} }),
    ).toEqual({
      error: expect.stringMatching(/^Invalid arguments: wait_seconds .*unknown field 'inputs'$/),
    });
    expect(await use(client, 'run_workflow', { workflow: 'x', input: 'text' })).toEqual({
      error: 'Invalid arguments: input must be a JSON object',
    });
    expect(await use(client, 'list_runs', { cursor: 'nonsense' })).toHaveProperty('error');
  });
});

test('a run can be started again and forked, and the runs started from it are listed', async () => {
  const client = await connect();
  const child = await engine.define(quick, 'Child');
  const node = { id: 'sub', kind: 'workflow', workflow: child, input: { ticket: '{ticket}' } };
  const workflow = await engine.define({ nodes: [node], edges: [] } as never, 'Parent');
  const input = { ticket: 'x' };
  const { data: source } = await use(client, 'run_workflow', { workflow, input, wait_seconds: 20 });
  const run_id = source.id;
  const { data: started } = await use(client, 'list_runs', { parent_run_id: run_id });
  expect(started.runs).toMatchObject([{ parent_step_key: 'sub', trigger: 'workflow' }]);
  const list = async (query: string): Promise<unknown> =>
    ((await (await fetch(mcpUrl().replace(/mcp$/, query))).json()) as any).runs;
  const [{ id }] = started.runs;
  expect(await list(`runs?trigger=workflow&parent_run_id=${run_id}`)).toMatchObject([{ id }]);
  expect(await list(`workflows/${child}/runs?parent_run_id=${run_id}`)).toMatchObject([{ id }]);
  expect(await list(`workflows/${child}/runs?parent_run_id=${id}`)).toEqual([]);

  const args = { run_id, from_step: 'sub', idempotency_key: 'k' };
  const { data: fork } = await use(client, 'fork_run', args);
  expect(fork).toMatchObject({ trigger: 'mcp', forked_from: run_id, replayed: false });
  const { data: twice } = await use(client, 'fork_run', args);
  expect(twice).toMatchObject({ id: fork.id, replayed: true });
  const { data: again } = await use(client, 'rerun_run', { run_id, input: { ticket: 'y' } });
  expect(again).toMatchObject({ forked_from: run_id, forked_from_step: null });
  for (const [name, from] of [
    ['fork_run', { from_step: 'sub' }],
    ['rerun_run', {}],
  ] as const) {
    const { error } = await use(client, name, { run_id, ...from, version: 1, draft: true });
    expect(error).toContain('draft cannot be combined with version');
  }
  await client.close();
});

test('policies can be tried on the runs of a workflow, and the result can be read', async () => {
  const client = await connect();
  const workflow = await engine.define({ nodes: [mock('a', { output: 'x' })], edges: [] }, 'Tried');
  await use(client, 'run_workflow', { workflow, wait_seconds: 20 });
  const args = { policies: { model_allowlist: [] }, since: '2026-01-01', workflow: 'Tried' };
  const { data: begun } = await use(client, 'backtest_policies', args);
  const backtest_id = begun.id;
  const read = async () => (await use(client, 'get_backtest', { backtest_id })).data;
  await eventually(async () => (await read()).status === 'done');
  expect(await read()).toMatchObject({
    summary: { would_block: 1 },
    steps: [{ reason: "Model 'mock' is not on the workspace's list of allowed models" }],
  });
  expect(await use(client, 'cancel_backtest', { backtest_id })).toEqual({
    error: 'This backtest is not running: it is done',
  });
  await client.close();
});

test('an inbound webhook is set to send events, without showing its URL', async () => {
  const client = await connect();
  const workflow = await engine.define(quick, 'Received');
  const read = await use(client, 'get_inbound_webhook', { workflow });
  expect(read.data).toMatchObject({ enabled: false, event: null });
  expect(read.data).not.toHaveProperty('url');
  const etag = read.data.etag as string;
  const set = { workflow, event: 'lead.received', dedup_window_seconds: 60, if_match: etag };
  const changed = await use(client, 'configure_inbound_webhook', set);
  expect(changed.data).toMatchObject({ event: 'lead.received', dedup_window_seconds: 60 });
  const late = await use(client, 'configure_inbound_webhook', { ...set, event: null });
  expect(late.error).toContain('changed');
  const reserved = { workflow, event: 'run.failed' };
  expect((await use(client, 'configure_inbound_webhook', reserved)).error).toContain('is reserved');
  const { headers } = await addMember('editor', { run_workflows: false });
  const editor = await connect(undefined, headers);
  expect(await use(editor, 'configure_inbound_webhook', { workflow, event: null })).toEqual({
    error: "This action requires the 'run_workflows' permission",
  });
  await use(client, 'configure_inbound_webhook', { workflow, event: null });
  expect((await use(client, 'get_inbound_webhook', { workflow })).data.event).toBeNull();
  await client.close();
  await editor.close();
});

test('an ambiguous workflow name is refused, an ID is not', async () => {
  const client = await connect();
  const [first] = [await engine.define(quick, 'Twin'), await engine.define(quick, 'Twin')];
  expect(await use(client, 'get_workflow', { workflow: 'Twin' })).toEqual({
    error: "Several workflows are named 'Twin'; give the id of one",
  });
  expect((await use(client, 'get_workflow', { workflow: first })).data.id).toBe(first);
  // An id takes precedence over a workflow of that name.
  await engine.define(quick, first);
  expect((await use(client, 'get_workflow', { workflow: first })).data.name).toBe('Twin');
  await client.close();
});

test('every tool that edits or deletes a record takes its etag', () => {
  const acts = tools.filter(({ annotations }) => annotations.readOnlyHint === false);
  const withTag = acts.filter(({ input }) => 'if_match' in input.shape).map(({ name }) => name);
  expect(withTag.sort()).toEqual([
    'configure_inbound_webhook',
    'delete_budget',
    'delete_event_trigger',
    'delete_schedule',
    'delete_webhook',
    'discard_draft',
    'publish_draft',
    'save_draft',
    'set_checks',
    'set_limits',
    'update_budget',
    'update_event_trigger',
    'update_schedule',
    'update_webhook',
    'update_workflow',
  ]);
  // The others create, send, or act on runs and deliveries, which no one edits.
  const other =
    // A pin belongs to one member.
    /^(create|import|refresh|run|backtest|start|rerun|fork|approve|assign|resume|cancel|rotate|test|redeliver|replay|pin|unpin|send)_/;
  const left = acts.map(({ name }) => name).filter((name) => !withTag.includes(name));
  expect(left.filter((name) => !other.test(name))).toEqual([]);
});

describe('permissions', () => {
  const argumentsOf: Record<string, Record<string, unknown>> = {
    backtest_policies: { policies: {}, since: '2026-01-01', workflow: 'wf_x' },
    get_backtest: { backtest_id: 'job_x' },
    cancel_backtest: { backtest_id: 'job_x' },
    start_experiment: { workflow: 'wf_x', candidate: { version: 1 }, runs: { last: 1 } },
    get_experiment: { experiment_id: 'job_x' },
    list_experiments: { workflow: 'wf_x' },
    cancel_experiment: { experiment_id: 'job_x' },
    list_inbound_events: { workflow: 'wf_x' },
    get_inbound_webhook: { workflow: 'wf_x' },
    configure_inbound_webhook: { workflow: 'wf_x' },
    send_event: { name: 'a.happened' },
    get_event: { event_id: 'evt_x' },
    list_event_triggers: { workflow: 'wf_x' },
    create_event_trigger: { workflow: 'wf_x', event: 'a.happened' },
    update_event_trigger: { trigger_id: 'trg_x' },
    delete_event_trigger: { trigger_id: 'trg_x' },
    create_schedule: { workflow: 'wf_x', cron: '@daily' },
    update_schedule: { schedule_id: 'sch_x' },
    delete_schedule: { schedule_id: 'sch_x' },
    create_budget: { workflow: 'wf_x', name: 'B', limit_usd: 1 },
    update_budget: { budget_id: 'bud_x' },
    delete_budget: { budget_id: 'bud_x' },
    update_workflow: { workflow: 'wf_x' },
    set_checks: { workflow: 'wf_x', checks: [] },
    get_limits: { workflow: 'wf_x' },
    list_queues: { workflow: 'wf_x' },
    set_limits: { workflow: 'wf_x' },
    get_inbound_event: { event_id: 'iev_x' },
    replay_inbound_event: { event_id: 'iev_x' },
    replay_inbound_events: { workflow: 'wf_x', since: '2026-01-01' },
    get_event_replay: { replay_id: 'job_x' },
    cancel_event_replay: { replay_id: 'job_x' },
    redeliver_webhook_range: { webhook: 'end_x' },
    get_workflow: { workflow: 'wf_x' },
    validate_workflow: { workflow: 'wf_x' },
    create_workflow: { name: 'W' },
    explain_validation: { workflow: 'wf_x' },
    run_workflow: { workflow: 'wf_x' },
    get_run: { run_id: 'run_x' },
    get_gate: { run_id: 'run_x', step_key: 'gate' },
    approve_run: { run_id: 'run_x' },
    assign_gate: { run_id: 'run_x', member_id: null },
    resume_run: { run_id: 'run_x' },
    rerun_run: { run_id: 'run_x' },
    dry_run_workflow: { workflow: 'wf_x' },
    fork_run: { run_id: 'run_x', from_step: 'a' },
    test_node: { workflow: 'wf_x', node_id: 'a', state: {} },
    list_pins: { workflow: 'wf_x' },
    pin_output: { workflow: 'wf_x', node_id: 'a', run_id: 'run_x' },
    unpin_output: { workflow: 'wf_x', node_id: 'a' },
    cancel_run: { run_id: 'run_x' },
    update_webhook: { webhook: 'end_x' },
    delete_webhook: { webhook: 'end_x' },
    rotate_webhook_secret: { webhook: 'end_x' },
    test_webhook: { webhook: 'end_x' },
    list_webhook_deliveries: { webhook: 'end_x' },
    get_draft: { workflow: 'wf_x' },
    save_draft: { workflow: 'wf_x' },
    discard_draft: { workflow: 'wf_x' },
    publish_draft: { workflow: 'wf_x' },
    redeliver_webhook: { webhook: 'end_x', delivery: 'dlv_x' },
  };
  const guarded = tools.filter(({ capability }) => capability !== 'view');

  test('each tool needs the capability of its operation', () => {
    const acts = Object.fromEntries(guarded.map(({ name, capability }) => [name, capability]));
    expect(acts).toEqual({
      backtest_policies: 'manage_workspace',
      cancel_backtest: 'manage_workspace',
      start_experiment: 'run_workflows',
      cancel_experiment: 'run_workflows',
      replay_inbound_event: 'run_workflows',
      replay_inbound_events: 'run_workflows',
      cancel_event_replay: 'run_workflows',
      redeliver_webhook_range: 'manage_workspace',
      run_workflow: 'run_workflows',
      send_event: 'run_workflows',
      rerun_run: 'run_workflows',
      dry_run_workflow: 'run_workflows',
      fork_run: 'run_workflows',
      import_tools: 'create_edit_workflows',
      refresh_tool: 'create_edit_workflows',
      test_node: 'run_workflows',
      pin_output: 'run_workflows',
      unpin_output: 'run_workflows',
      approve_run: 'approve_gates',
      assign_gate: 'approve_gates',
      resume_run: 'cancel_resume',
      cancel_run: 'cancel_resume',
      create_webhook: 'manage_workspace',
      update_webhook: 'manage_workspace',
      delete_webhook: 'manage_workspace',
      rotate_webhook_secret: 'manage_workspace',
      test_webhook: 'manage_workspace',
      redeliver_webhook: 'manage_workspace',
      create_event_trigger: 'create_edit_workflows',
      create_schedule: 'create_edit_workflows',
      update_schedule: 'create_edit_workflows',
      delete_schedule: 'create_edit_workflows',
      create_budget: 'manage_workspace',
      update_budget: 'manage_workspace',
      delete_budget: 'manage_workspace',
      update_workflow: 'create_edit_workflows',
      set_checks: 'create_edit_workflows',
      set_limits: 'create_edit_workflows',
      configure_inbound_webhook: 'create_edit_workflows',
      update_event_trigger: 'create_edit_workflows',
      delete_event_trigger: 'create_edit_workflows',
      save_draft: 'create_edit_workflows',
      create_workflow: 'create_edit_workflows',
      discard_draft: 'create_edit_workflows',
      publish_draft: 'publish_workflows',
    } satisfies Record<string, Capability>);
  });

  test.each([...new Set(guarded.map(({ capability }) => capability))])(
    'without %s, its tools are refused before their arguments are validated',
    async (capability) => {
      const client = await connect(
        undefined,
        (await addMember('admin', { [capability]: false })).headers,
      );
      for (const { name } of guarded.filter((tool) => tool.capability === capability)) {
        for (const args of [argumentsOf[name], { nonsense: true }]) {
          expect([name, await use(client, name, args)]).toEqual([
            name,
            { error: `This action requires the '${capability}' permission` },
          ]);
        }
      }
      await client.close();
    },
  );

  test.each(Object.keys(capabilities))(
    'with view and %s, exactly their tools are allowed',
    async (extra) => {
      const { headers } = await addMember('viewer', { [extra]: true });
      const client = await connect(undefined, headers);
      for (const { name, capability } of tools) {
        const { error = '' } = await use(client, name, argumentsOf[name]);
        const refused = error.includes('permission');
        expect([name, refused]).toEqual([name, capability !== 'view' && capability !== extra]);
      }
      await client.close();
    },
  );

  test('without view, every request is refused', async () => {
    const { headers } = await addMember('admin', { view: false });
    await expect(connect(undefined, headers)).rejects.toThrow();
    const answer = await fetch(mcpUrl(), {
      method: 'POST',
      headers: { ...headers, 'content-type': 'application/json' },
      body: '{"jsonrpc":"2.0","id":1,"method":"tools/list"}',
    });
    expect([answer.status, await answer.json()]).toEqual([
      403,
      { detail: "This action requires the 'view' permission" },
    ]);
  });

  test('the audit log names the caller', async () => {
    const { id, headers } = await addMember('editor');
    const client = await connect(undefined, headers);
    const workflow = await engine.define(quick);
    const { data } = await use(client, 'run_workflow', { workflow, input: { ticket: 'x' } });
    expect(await lastEntry()).toEqual({ action: 'run', actor_id: id, target_id: workflow });
    expect((await engine.run(data.id)).created_by).toBe(id);
    await client.close();
  });
});

describe('money limits', () => {
  const withLimits = async () => {
    const workspaceId = await addWorkspace();
    const { headers } = await addMember('admin', {}, workspaceId);
    const client = await connect(undefined, headers);
    const body = { name: 'Limited', graph: gated };
    const created = await call('POST', '/api/workflows', body, headers);
    return { workspaceId, headers, client, workflow: created.body.id as string };
  };

  test('an exhausted run quota is a tool error with the 402 message, and starts no run', async () => {
    const { workspaceId, client, workflow } = await withLimits();
    await engine.db.query(sql.type(row)`
      INSERT INTO run_counters (workspace_id, month, shard, runs)
      VALUES (${workspaceId}, date_trunc('month', now() AT TIME ZONE 'UTC')::date, 0, 1000)
    `);
    expect(await use(client, 'run_workflow', { workflow, input: { ticket: 'x' } })).toEqual({
      error:
        'Monthly run limit reached (1000/1000 on the free plan). Upgrade the plan to run more.',
    });
    expect((await use(client, 'list_runs')).data.runs).toEqual([]);
    expect((await use(client, 'get_usage')).data).toMatchObject({ runs_used: 1000 });
    await client.close();
  });
});

describe('large data', () => {
  test('a run is shortened, keeps its structure, and says that it was shortened', async () => {
    const client = await connect();
    const workflow = await engine.define({
      nodes: Array.from({ length: 120 }, (_, at) => echo(`step_${at}`, 'upper(ticket)')),
      edges: [],
    });
    const runId = await engine.trigger(workflow, { ticket: 'x"'.repeat(2_000) });
    await engine.until(runId, ['success']);
    const result: any = await client.callTool({ name: 'get_run', arguments: { run_id: runId } });
    const [data, note] = result.content.map(({ text }: any) => text);
    expect(data.length).toBeLessThan(66_000);
    expect(note).toMatch(/^Shortened from \d{6,} characters/);
    expect(result.structuredContent).toMatchObject({ id: runId, status: 'success' });
    expect(result.structuredContent.steps.length).toBeGreaterThan(5);
    expect(result.structuredContent.input.ticket).toHaveLength(4_000);
    expect(result.structuredContent.state.step_0).toMatch(/^X"X".*… \(4000 characters\)$/);
    await client.close();
  });

  test('a body over the limit is 413', async () => {
    const client = await connect();
    await expect(
      use(client, 'run_workflow', { workflow: 'x', input: { text: 'x'.repeat(1_100_000) } }),
    ).rejects.toThrow(/1 MB|413/);
    await client.close();
  });
});

describe('over plain HTTP', () => {
  const post = async (body: unknown, headers: Record<string, string> = {}) =>
    fetch(mcpUrl(), {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
  const listTools = { jsonrpc: '2.0', id: 1, method: 'tools/list' };

  test('a client that accepts anything gets JSON', async () => {
    const answer = await post(listTools);
    expect([answer.status, answer.headers.get('content-type')]).toEqual([200, 'application/json']);
    const { id, result } = (await answer.json()) as any;
    expect([id, result.tools.length]).toEqual([1, tools.length]);
    expect(answer.headers.get('mcp-session-id')).toBeNull();
  });

  test('a notification gets 202 without a body', async () => {
    const answer = await post({ jsonrpc: '2.0', method: 'notifications/initialized' });
    expect([answer.status, await answer.text()]).toEqual([202, '']);
  });

  test.each(['GET', 'DELETE'])('%s is refused, since there are no sessions', async (method) => {
    const answer = await fetch(mcpUrl(), { method, headers: { accept: 'text/event-stream' } });
    expect(answer.status).toBe(405);
  });

  test.each([
    ['no JSON', '{', 400],
    ['null', 'null', 400],
    ['no message', { hello: 'world' }, 400],
    ['nothing', '', 400],
    ['a key that reaches a prototype', '{"jsonrpc":"2.0","id":1,"__proto__":{}}', 400],
  ])('%s is refused', async (_what, body, status) => {
    expect((await post(body)).status).toBe(status);
  });

  test('a subscription is refused, since tools never change', async () => {
    const meta = {
      'io.modelcontextprotocol/protocolVersion': '2026-07-28',
      'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
      'io.modelcontextprotocol/clientCapabilities': {},
    };
    const answer = await post(
      {
        jsonrpc: '2.0',
        id: 1,
        method: 'subscriptions/listen',
        params: { notifications: { toolsListChanged: true }, _meta: meta },
      },
      { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'subscriptions/listen' },
    );
    expect(await answer.json()).toMatchObject({ error: {} });
  });
});
