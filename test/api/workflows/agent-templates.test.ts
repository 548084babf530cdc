import { beforeAll, describe, expect, test } from '@jest/globals';
import type { Run } from '#shared/contract/runs/run.ts';
import { createDemoData } from '#shared/seed/demo-data.ts';
import { budgetedResearch } from '#shared/templates/budgeted-research.ts';
import { dataSteward } from '#shared/templates/data-steward.ts';
import { supportTriage } from '#shared/templates/support-triage.ts';
import type { BuiltInTemplate } from '#shared/templates/template.ts';
import { soakTest } from '#test/support/soak.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { expectRefusal } from '#test/api/refusal.ts';

/** The templates with agents, in a workspace with the demo data. All egress is blocked. */
const { engine, call } = useEngineApi({ env: { EGRESS_ALLOW: '' } });
beforeAll(() => createDemoData(engine.db, engine.actor.workspaceId));

/** Starts a run of a template with its sample input, changed by `input`, and waits until it settles. */
async function start({ id, sampleInput }: BuiltInTemplate, input: object = {}): Promise<Run> {
  const { body: workflow } = await call('POST', `/api/templates/${id}/instantiate`);
  const runId = await engine.trigger(workflow.id, { ...sampleInput, ...input });
  return settled(runId);
}

const settled = (runId: string): Promise<Run> =>
  engine.until(runId, ['success', 'failed', 'paused']);

/** Decides the oldest call that waits. */
async function decide(run: Run, decision: object): Promise<Run> {
  const { step_key, tool_call } = run.pending_gate!;
  const body = { step_key, digest: tool_call!.digest, ...decision };
  const { status } = await call('POST', `/api/runs/${run.id}/approve`, body);
  expect(status).toBe(200);
  return settled(run.id);
}

const recordsOf = async (type: string): Promise<any[]> =>
  (await call('GET', `/api/data/entities?entity_type=${type}&limit=100`)).body.entities;
const refundsOf = async (order: string): Promise<any[]> =>
  (await recordsOf('refund')).filter(({ attributes }) => attributes.order === order);

function expectPassed({ status, evals }: Run): void {
  expect([status, evals!.results.filter(({ passed }) => !passed)]).toEqual(['success', []]);
}

describe('support triage', () => {
  test('finds the order, and requests approval for the refund with tool, arguments and digest', async () => {
    const run = await start(supportTriage);
    const found: any = run.steps.find(({ step_key: key }) => key === 'refund/1.1')!.output;
    expect(found.data).toMatchObject([{ external_key: 'A-1042', attributes: { payments: 2 } }]);
    expect(run.pending_gate).toMatchObject({
      kind: 'tool_call',
      node_id: 'refund',
      step_key: 'refund/2.1',
      tool_call: {
        tool: 'entity_upsert',
        arguments: {
          external_key: 'refund-A-1042',
          entity_type: 'refund',
          attributes: { order: 'A-1042', amount_usd: 240 },
        },
        digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      },
    });
    expect(await refundsOf('A-1042')).toEqual([]);
    const ended = await decide(run, { approved: false, reason: 'Only one payment arrived' });
    expectPassed(ended);
    expect(ended.output).toEqual({ answer: expect.stringContaining('in order') });
    expect(await refundsOf('A-1042')).toEqual([]);
    const path = `/api/runs/${run.id}/steps/refund/messages`;
    const conversation = JSON.stringify((await call('GET', path)).body);
    expect(conversation).toContain('Only one payment arrived');
  });

  test('refunds the amount that the approver sets, and only once', async () => {
    const run = await start(supportTriage, { order_id: 'A-1035' });
    const { arguments: args, digest } = run.pending_gate!.tool_call!;
    const text = { ...args, attributes: { ...(args as any).attributes, amount_usd: 'all' } };
    const url = `/api/runs/${run.id}/approve`;
    const refused = await call('POST', url, { digest, arguments: text });
    expectRefusal(refused, 400, expect.stringContaining('amount_usd'));
    const other = await call('POST', url, { digest, arguments: { ...args, feed_id: 'feed_x' } });
    expect(other.status).toBe(400);
    const half = { ...args, attributes: { ...(args as any).attributes, amount_usd: 120 } };
    const ended = await decide(run, { arguments: half });
    expectPassed(ended);
    expect(ended.output).toEqual({ answer: expect.stringContaining('We return 120 dollars') });
    expect(await refundsOf('A-1035')).toMatchObject([
      { canonical_name: 'Refund of order A-1035', attributes: { amount_usd: 120 } },
    ]);

    const again = await start(supportTriage, { order_id: 'A-1035' });
    expect(again.pending_gate).toMatchObject({ kind: 'human_gate', node_id: 'approval' });
    await call('POST', `/api/runs/${again.id}/approve`, { approved: false });
    const declined = await settled(again.id);
    expectPassed(declined);
    expect(declined.output).toEqual({ answer: expect.stringContaining('in order') });
  });
});

describe('data steward', () => {
  test('requests approval for each correction, and writes the approved ones as edited', async () => {
    const before = Object.fromEntries(
      (await recordsOf('order')).map((order) => [order.canonical_name, order]),
    );
    const run = await start(dataSteward);
    expect(run.pending_gates.map(({ tool_call }) => tool_call!.arguments)).toMatchObject([
      { external_key: 'A-1038' },
      { external_key: 'A-1040' },
    ]);
    const args: any = run.pending_gate!.tool_call!.arguments;
    // The proposals change what is wrong and nothing else.
    expect(args.attributes).toEqual(before['Order A-1038'].attributes);
    const other: any = run.pending_gates[1]!.tool_call!.arguments;
    expect({ ...other.attributes, status: 'payed' }).toEqual(before['Order A-1040'].attributes);
    expect(other.geography).toEqual(before['Order A-1040'].geography);

    const geography = { city: 'Portland', region: 'OR', country: 'US' };
    const next = await decide(run, { arguments: { ...args, geography } });
    expect(next.pending_gates).toHaveLength(1);
    expectPassed(await decide(next, { approved: false, reason: 'It is a state of the old shop' }));
    const after = await recordsOf('order');
    const named = (name: string) => after.find(({ canonical_name }) => canonical_name === name);
    expect(named('Order A-1038')).toMatchObject({ geography });
    expect(named('Order A-1040')).toEqual(before['Order A-1040']);
  });

  test('says that there is no feed of that name', async () => {
    const run = await start(dataSteward, { feed: 'Nothing' });
    expectPassed(run);
    expect(run.output).toEqual({ report: expect.stringContaining('no feed called Nothing') });
  });
});

soakTest('budgeted research answers after its last turn, within its limits', async () => {
  const run = await start(budgetedResearch);
  expectPassed(run);
  const keys = run.steps.map(({ step_key: key }) => key).filter((key) => key.includes('/'));
  expect(keys.filter((key) => !key.includes('.'))).toEqual(
    [1, 2, 3, 4].map((turn) => `research/${turn}`),
  );
  expect(run.cost_usd).toBe(0.0124);
  const [projects] = run.steps.filter(({ step_key: key }) => key === 'research/1.2');
  expect(projects!.output).toMatchObject({ data: { length: 5 }, has_more: true });
});

soakTest('a cap ends budgeted research before the turn that it cannot pay', async () => {
  const { body: workflow } = await call(
    'POST',
    `/api/templates/${budgetedResearch.id}/instantiate`,
  );
  const capped = await call('PUT', `/api/workflows/${workflow.id}`, { run_cap_usd: 0.005 });
  expect(capped.status).toBe(200);
  const run = await settled(await engine.trigger(workflow.id, budgetedResearch.sampleInput));
  expect(run).toMatchObject({ status: 'failed', failure: { kind: 'budget' } });
  expect(run.steps.filter(({ step_key: key }) => key.startsWith('research/3'))).toEqual([]);
});
