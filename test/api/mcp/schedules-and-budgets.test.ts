import { afterEach, describe, expect, test } from '@jest/globals';
import type { Client } from '@modelcontextprotocol/client';
import type { CapabilityOverrides, Role } from '#shared/people/capabilities.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { addCaller } from '#test/api/people/caller.ts';
import { connectMcp } from '#test/fakes/mcp-client.ts';
import { echo, eventually, mock } from '#test/support/engine.ts';

const { engine, call } = useEngineApi();

const clients: Client[] = [];
const connect = async (headers?: Record<string, string>) => {
  const client = await connectMcp(`${engine.url}/api/mcp`, undefined, headers);
  clients.push(client);
  // From here on, the client validates results against the output schemas.
  await client.listTools();
  return async (name: string, args: Record<string, unknown> = {}): Promise<any> => {
    const result: any = await client.callTool({ name, arguments: args });
    return result.isError === true ? { error: result.content[0].text } : result.structuredContent;
  };
};
const connectAs = async (role: Role, overrides: CapabilityOverrides = {}) =>
  connect((await addCaller({ ...engine, ...engine.actor }, { role, overrides })).headers);
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close();
});

const quick = { nodes: [echo('answer', "'re: ' + ticket")], edges: [] };
const missing = (name: string) => ({
  error: `This action requires the '${name}' permission`,
});

describe('over MCP, a schedule', () => {
  const daily = { cron: '30 8 * * 1-5', timezone: 'Europe/Berlin', input: { ticket: 'x' } };

  test('is created once per key, listed, paused, continued and deleted', async () => {
    const use = await connect();
    await engine.define(quick, 'Daily');
    const args = { workflow: 'Daily', ...daily, idempotency_key: 'once' };
    const made = await use('create_schedule', args);
    expect(made).toMatchObject({ ...daily, enabled: true, overlap: 'skip' });
    expect(await use('create_schedule', args)).toEqual(made);
    expect((await use('list_schedules')).schedules.map(({ id }: any) => id)).toEqual([made.id]);
    const schedule_id = made.id;
    const paused = await use('update_schedule', { schedule_id, enabled: false });
    expect(paused).toMatchObject({ ...daily, enabled: false, next_run_at: null });
    const stale = await use('update_schedule', { schedule_id, enabled: true, if_match: made.etag });
    expect(stale.error).toContain('changed');
    const continued = await use('update_schedule', { schedule_id, enabled: true });
    expect(continued.next_run_at).toBe(made.next_run_at);
    const run = await call('POST', `/api/schedules/${schedule_id}/trigger`);
    expect((await engine.until(run.body.id, ['success'])).output).toEqual({ answer: 're: x' });
    expect(await use('delete_schedule', { schedule_id, if_match: paused.etag })).toHaveProperty(
      'error',
    );
    expect(await use('delete_schedule', { schedule_id })).toEqual({ deleted: schedule_id });
    expect(await use('list_schedules')).toEqual({ schedules: [] });
    expect(await use('delete_schedule', { schedule_id })).toEqual({ error: 'Schedule not found' });
  });

  test('is enabled only by someone who can run workflows', async () => {
    const use = await connectAs('editor', { run_workflows: false });
    const workflow = await engine.define(quick);
    expect(await use('create_schedule', { workflow, ...daily })).toEqual(missing('run_workflows'));
    const { id } = await use('create_schedule', { workflow, ...daily, enabled: false });
    const change = { schedule_id: id, enabled: true };
    expect(await use('update_schedule', change)).toEqual(missing('run_workflows'));
    const viewer = await connectAs('viewer');
    expect(await viewer('delete_schedule', { schedule_id: id })).toEqual(
      missing('create_edit_workflows'),
    );
  });

  test('is refused with the sentence of the API', async () => {
    const use = await connect();
    const workflow = await engine.define(quick);
    for (const [given, message] of [
      [{ cron: '61 * * * *' }, 'cron'],
      [{ timezone: 'Berlin' }, "timezone 'Berlin' is not an IANA time zone"],
      [{ enabeld: true }, "unknown field 'enabeld'"],
    ] as const) {
      expect((await use('create_schedule', { workflow, ...daily, ...given })).error).toContain(
        message,
      );
    }
  });
});

describe('over MCP, a budget', () => {
  const costly = { nodes: [mock('a', { output: 'x', cost_usd: 0.6 })], edges: [] };

  test('stops the runs of its workflow, is raised, and deleted', async () => {
    const use = await connect();
    const workflow = await engine.define(costly, 'Costly');
    const other = await engine.define(costly, 'Other');
    const made = await use('create_budget', {
      name: 'Costly',
      workflow: 'Costly',
      limit_usd: 1,
      window: 'day',
    });
    expect(made).toMatchObject({ scope: 'workflow', workflow_id: workflow, overrun: 'none' });
    const run = (of: string) => use('run_workflow', { workflow: of, wait_seconds: 20 });
    expect((await run(workflow)).status).toBe('success');
    expect((await run(workflow)).status).toBe('success');
    expect((await run(workflow)).error).toContain("Budget 'Costly' exhausted");
    expect((await run(other)).status).toBe('success');
    const [listed] = (await use('list_budgets')).budgets;
    expect(listed).toMatchObject({
      id: made.id,
      limit_usd: 1,
      status: { spent_usd: 1.2, over: true },
    });
    const budget_id = made.id;
    const raised = await use('update_budget', { budget_id, limit_usd: 5, if_match: listed.etag });
    expect(raised).toMatchObject({ limit_usd: 5, window: 'day', name: 'Costly' });
    expect(
      (await use('update_budget', { budget_id, limit_usd: 9, if_match: listed.etag })).error,
    ).toContain('changed');
    expect((await run(workflow)).status).toBe('success');
    expect(await use('delete_budget', { budget_id })).toEqual({ deleted: budget_id });
    expect(await use('list_budgets')).toEqual({ budgets: [] });
  });

  test('is for the whole workspace without a workflow, and for administrators only', async () => {
    const use = await connect();
    const made = await use('create_budget', { name: 'All', limit_usd: 100 });
    expect(made).toMatchObject({ scope: 'workspace', workflow_id: null, window: 'month' });
    const editor = await connectAs('editor');
    for (const [tool, args] of [
      ['create_budget', { name: 'Mine', limit_usd: 1 }],
      ['update_budget', { budget_id: made.id, limit_usd: 1_000 }],
      ['delete_budget', { budget_id: made.id }],
    ] as const) {
      expect(await editor(tool, args)).toEqual(missing('manage_workspace'));
    }
    expect((await editor('list_budgets')).budgets).toHaveLength(1);
    await use('delete_budget', { budget_id: made.id });
  });

  test('of one run is the cap of the workflow', async () => {
    const use = await connect();
    const workflow = await engine.define(costly);
    const capped = await use('update_workflow', {
      workflow,
      run_cap_usd: 0.5,
      description: 'Small',
    });
    expect(capped).toMatchObject({ run_cap_usd: 0.5, description: 'Small', version: 1 });
    const run = await use('run_workflow', { workflow, wait_seconds: 20 });
    expect(run).toMatchObject({ status: 'failed', failure: { kind: 'budget' } });
    const raise = { workflow, run_cap_usd: null, if_match: capped.etag };
    expect((await use('update_workflow', raise)).run_cap_usd).toBeNull();
    expect((await use('update_workflow', raise)).error).toContain('changed');
    const again = await use('run_workflow', { workflow, wait_seconds: 20 });
    expect(again.status).toBe('success');
  });
});

test('over MCP, checks score the next runs of a workflow', async () => {
  const use = await connect();
  const workflow = await engine.define(quick);
  const checks = [{ name: 'answers', type: 'contains', target: 'answer', value: 're:' }];
  const set = await use('set_checks', { workflow, checks });
  expect(set.checks).toEqual(checks);
  const run = await use('run_workflow', { workflow, input: { ticket: 'x' }, wait_seconds: 20 });
  const evals = async () => (await use('get_run', { run_id: run.id })).evals;
  await eventually(async () => (await evals()) !== null);
  expect(await evals()).toMatchObject({ passed: 1, total: 1 });
  const wrong = [{ name: 'answers', type: 'has', value: 1 }];
  expect((await use('set_checks', { workflow, checks: wrong })).error).toContain('checks');
  const editorless = await connectAs('viewer');
  expect(await editorless('set_checks', { workflow, checks: [] })).toEqual(
    missing('create_edit_workflows'),
  );
  expect((await use('set_checks', { workflow, checks: [], if_match: set.etag })).checks).toEqual(
    [],
  );
});

test('over MCP, the settings of a workflow in use need the permissions to publish it', async () => {
  const use = await connectAs('editor', { publish_workflows: false });
  const workflow = await engine.define(quick);
  await call('POST', `/api/workflows/${workflow}/publish`);
  for (const change of [
    { run_cap_usd: 1 },
    { requires_experiment: true },
    { overrun: 'one_step' },
  ]) {
    expect((await use('update_workflow', { workflow, ...change })).error).toContain(
      'publish_workflows',
    );
  }
});
