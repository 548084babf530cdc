import { afterEach, describe, expect, test } from '@jest/globals';
import { type Policies, unrestricted } from '#shared/contract/policies/policy.ts';
import { replacePolicies } from '#shared/db/policies/policies.ts';
import type { JsonObject } from '#shared/json.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { chain, echo, mock } from '#test/support/engine.ts';
import { verifyText } from '#test/support/evidence.ts';

// Events that runs send are governed like every other write.

const { engine, call } = useEngineApi();
afterEach(() => set({}));

const set = (policies: Partial<Policies>) =>
  replacePolicies(engine.db, engine.actor, { ...unrestricted, ...policies });
const sending = (params: object, rest: object = {}) =>
  ({ id: 'send', kind: 'tool', tool_name: 'send_event', params, ...rest }) as never;
const sent = async (name: string): Promise<{ id: string; data: unknown; run_id: string }[]> =>
  (await call('GET', `/api/events?name=${name}`)).body.events;
const stepOf = async (runId: string, key = 'send') => {
  const { body } = await call('GET', `/api/runs/${runId}`);
  return body.steps.find(({ step_key }: { step_key: string }) => step_key === key);
};
const gateOf = async (runId: string) => {
  await engine.until(runId, ['paused']);
  return (await call('GET', `/api/runs/${runId}`)).body.pending_gate;
};
/** The turns of an agent that calls the tool once. */
const turnsWith = (event: JsonObject): JsonObject[] => [
  { calls: [{ tool: 'send_event', arguments: event }] },
  { output: 'Done' },
];
const decide = (runId: string, body: object) => call('POST', `/api/runs/${runId}/approve`, body);

describe('a policy', () => {
  test('that does not allow the tool in the workflow stores no event', async () => {
    await set({ tools: [{ tool: 'send_event', allowed_workflow_ids: [] }] });
    const runId = await engine.start(
      chain(sending({ name: 'denied.sent' }, { retry: { max_attempts: 3 } })),
    );
    const { error } = await engine.until(runId, ['failed']);
    expect(error).toContain("Tool 'send_event' is not allowed in this workflow");
    expect(await stepOf(runId)).toMatchObject({ status: 'failed', attempt: 1 });
    expect(await sent('denied.sent')).toEqual([]);
  });

  test.each([
    ['a name', { argument: 'name', pattern: '^billing\\.' }, { name: 'billing.sent' }],
    [
      'a part of the data',
      { argument: 'data.country', values: ['XX'] },
      { name: 'part.sent', data: { country: '{country}' } },
    ],
  ])('that blocks %s stores no event', async (_of, blocked, params) => {
    await set({ tools: [{ tool: 'send_event', blocked_arguments: [blocked as never] }] });
    const runId = await engine.start(chain(sending(params)), { country: 'XX' });
    await engine.until(runId, ['failed']);
    const { body } = await call('GET', `/api/governance/events?run_id=${runId}`);
    expect(body).toMatchObject([{ type: 'tool_argument_blocked', decision: 'blocked' }]);
    expect(await sent(params.name)).toEqual([]);
  });

  test('that redacts stores the redacted data, also for what waits for it', async () => {
    await set({ redaction: { detectors: ['email'], patterns: [] } });
    const waiting = await engine.start(
      chain({ id: 'w', kind: 'wait', event: { name: 'redacted.sent' } } as never),
    );
    const data = { who: '{who}', list: ['{who}'] };
    const runId = await engine.start(chain(sending({ name: 'redacted.sent', data })), {
      who: 'ada@example.com',
    });
    await engine.until(runId, ['success']);
    const hidden = { who: '[REDACTED:email]', list: ['[REDACTED:email]'] };
    expect(await sent('redacted.sent')).toMatchObject([{ data: hidden, run_id: runId }]);
    expect((await stepOf(runId)).input).toMatchObject({ data: hidden });
    const { state } = await engine.until(waiting, ['success']);
    expect(state).toMatchObject({ w: { data: hidden } });
  });

  test('of an agent is applied to its calls', async () => {
    await set({ tools: [{ tool: 'send_event', allowed_workflow_ids: [] }] });
    const turns = turnsWith({ name: 'agent.denied' });
    const agent = mock('writer', { turns }, { tools: [{ name: 'send_event', approval: 'never' }] });
    const runId = await engine.start(chain(agent));
    await engine.until(runId, ['success', 'failed']);
    expect(await sent('agent.denied')).toEqual([]);
    const { body } = await call('GET', `/api/governance/events?run_id=${runId}`);
    expect(body).toMatchObject([{ type: 'policy_denied', policy: 'tool_permission' }]);
  });
});

describe('an approval', () => {
  const asking = sending(
    { name: 'asked.sent', data: { amount: '{amount}' } },
    { approval: 'always' },
  );

  test('shows the event exactly, and sends it as approved, or as changed', async () => {
    const runId = await engine.start(chain(echo('before'), asking), { amount: 100 });
    const gate = await gateOf(runId);
    expect(gate).toMatchObject({
      ...{ kind: 'tool_call', step_key: 'send' },
      tool_call: {
        tool: 'send_event',
        arguments: { name: 'asked.sent', data: { amount: 100 } },
      },
    });
    expect(await sent('asked.sent')).toEqual([]);
    const { digest, arguments: args } = gate.tool_call;
    const changed = { ...args, data: { amount: 60 } };
    expect((await decide(runId, { digest, arguments: changed })).status).toBe(200);
    await engine.until(runId, ['success']);
    expect(await sent('asked.sent')).toMatchObject([{ data: { amount: 60 }, run_id: runId }]);
    expect((await call('GET', '/api/audit/verify')).body).toMatchObject({
      tool_calls: { problems: [] },
    });
  });

  test('that is rejected sends nothing', async () => {
    const runId = await engine.start(
      chain(sending({ name: 'rejected.sent' }, { approval: 'always' })),
    );
    const { tool_call: shown } = await gateOf(runId);
    const body = { digest: shown.digest, approved: false };
    expect((await decide(runId, body)).status).toBe(200);
    await engine.ended(runId);
    expect(await sent('rejected.sent')).toEqual([]);
  });

  test('of a call of an agent sends the event once it is approved', async () => {
    const turns = turnsWith({ name: 'agent.sent', data: { n: 1 } });
    const runId = await engine.start(
      chain(mock('writer', { turns }, { tools: [{ name: 'send_event', approval: 'always' }] })),
    );
    const { tool_call: shown } = await gateOf(runId);
    expect(shown).toMatchObject({ tool: 'send_event', arguments: { name: 'agent.sent' } });
    expect((await decide(runId, { digest: shown.digest })).status).toBe(200);
    await engine.until(runId, ['success']);
    expect(await sent('agent.sent')).toMatchObject([{ data: { n: 1 }, run_id: runId }]);
  });
});

test('a gate before it shows that an approval sends the event, and the evidence has it', async () => {
  const gate = { id: 'review', kind: 'human_gate', prompt: 'Tell {who}?' } as never;
  const runId = await engine.start(
    chain(gate, sending({ name: 'shown.sent', data: { who: '{who}' } })),
    { who: 'Ada' },
  );
  await engine.until(runId, ['paused']);
  const { body: shown } = await call('GET', `/api/runs/${runId}/gates/review`);
  expect(shown.consequences.approve.effects).toMatchObject([
    {
      ...{ step_key: 'send', kind: 'tool', tool: 'send_event', certainty: 'certain' },
      effect: 'write',
      arguments: { name: 'shown.sent', data: { who: 'Ada' } },
    },
  ]);
  expect(shown.consequences.reject.effects).toEqual([]);
  expect((await decide(runId, { digest: shown.digest })).status).toBe(200);
  await engine.until(runId, ['success']);
  const [event] = await sent('shown.sent');
  const { text } = await call('GET', `/api/runs/${runId}/evidence?contents=true`);
  expect(verifyText(text)).toMatchObject({ problems: [] });
  expect(text).toContain('shown.sent');
  expect(text).toContain(event!.id);
});
