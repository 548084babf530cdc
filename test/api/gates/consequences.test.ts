import { expect, test } from '@jest/globals';
import { sql } from '#shared/db/pool.ts';
import { echo, edge, eventually, mock } from '#test/support/engine.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { addCaller } from '#test/api/people/caller.ts';

const { engine, call } = useEngineApi();
const tools = useToolServer();

const request = (id: string, params: object) =>
  ({ id, kind: 'tool', tool_name: 'http_request', params }) as never;

interface Shown {
  consequences: {
    approve: { effects: { node_id: string; arguments: { body: { amount: number } } }[] };
  };
}

/** What an approval pays. */
const amountIn = ({ consequences: { approve } }: Shown) =>
  approve.effects.find(({ node_id }) => node_id === 'pay')?.arguments.body.amount;

const graph = {
  nodes: [
    { id: 'review', kind: 'human_gate', prompt: 'Pay {amount} to {who}?' } as never,
    mock('quote', { output: { price: 7 } }),
    request('pay', {
      url: 'https://bank.test/pay',
      method: 'POST',
      body: { to: '{who}', amount: '{amount}', note: 'at {quote.price}' },
    }),
    { id: 'each', kind: 'map', items: 'parts' } as never,
    request('send', { url: 'https://mail.test/{each.item}', method: 'POST' }),
    { id: 'large', kind: 'condition', expression: 'quote.price > 5' } as never,
    request('tell', { url: 'https://mail.test/large' }),
    { id: 'second', kind: 'human_gate', prompt: 'More?' } as never,
    request('last', { url: 'https://mail.test/last', method: 'POST' }),
  ],
  edges: [
    ...[edge('review', 'quote', 'true'), edge('quote', 'pay'), edge('review', 'each', 'true')],
    ...[edge('each', 'send', 'true'), edge('send', 'each'), edge('pay', 'large')],
    ...[edge('large', 'tell', 'true'), edge('pay', 'second'), edge('second', 'last')],
  ],
};

test('a gate shows what an approval sets in motion, with its arguments', async () => {
  const workflowId = await engine.define(graph);
  const input = { who: 'Ada', amount: 100, parts: ['a', 'b'] };
  const runId = await engine.trigger(workflowId, input);
  await engine.until(runId, ['paused']);
  const { status, body } = await call('GET', `/api/runs/${runId}/gates/review`);
  expect([status, body.detail]).toEqual([200, undefined]);
  expect(body.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
  const { approve, reject } = body.consequences;
  expect(reject).toEqual({ effects: [], more: 0, next_gates: [] });
  expect(approve).toMatchObject({ more: 1, next_gates: ['second'] });
  const byKey = Object.fromEntries(
    approve.effects.map((effect: { step_key: string }) => [effect.step_key, effect]),
  );
  expect(Object.keys(byKey).toSorted()).toEqual(['pay', 'quote', 'send#1', 'send#2', 'tell']);
  expect(byKey.pay).toMatchObject({
    ...{ kind: 'tool', tool: 'http_request', certainty: 'certain', effect: 'write' },
    ...{ host: 'bank.test', conditions: [], cost_usd: { min: 0, max: 0 } },
    arguments: {
      url: 'https://bank.test/pay',
      method: 'POST',
      body: { to: 'Ada', amount: 100, note: null },
    },
    unknown: [{ path: ['body', 'note'], reads: ['quote.price'] }],
  });
  expect(byKey['send#2']).toMatchObject({
    ...{ certainty: 'certain', arguments: { url: 'https://mail.test/b' }, unknown: [] },
  });
  expect(byKey.tell).toMatchObject({
    certainty: 'conditional',
    effect: 'read',
    conditions: [{ node_id: 'large', when: 'true', expression: 'quote.price > 5' }],
  });
  const viewer = await addCaller(
    { db: engine.db, workspaceId: engine.actor.workspaceId },
    { role: 'viewer' },
  );
  const seen = await call('GET', `/api/runs/${runId}/gates/review`, undefined, viewer.headers);
  expect(seen.body.digest).toBeNull();
  expect(JSON.stringify(seen.body.consequences)).not.toContain('Ada');
});

test('a decision with a digest counts only for what was shown, with the input it has', async () => {
  const workflowId = await engine.define(graph);
  const start = async () => {
    const runId = await engine.trigger(workflowId, { who: 'Ada', amount: 100, parts: [] });
    await engine.until(runId, ['paused']);
    return runId;
  };
  const runId = await start();
  const gate = async () => (await call('GET', `/api/runs/${runId}/gates/review`)).body;
  const approve = (body: object) => call('POST', `/api/runs/${runId}/approve`, body);
  const other = `sha256:${'0'.repeat(64)}`;
  const stale = await approve({ digest: other, only_check: true });
  expect([stale.status, stale.body.detail]).toEqual([
    409,
    "What gate 'review' sets in motion has changed since you read it: read it again",
  ]);
  const { digest, consequences } = await gate();
  expect(stale.body.current).toEqual({ digest, consequences });
  expect((await approve({ digest, only_check: true })).status).toBe(200);
  // The digest is for 100, not for what the approver now writes over it.
  const changed = await approve({ digest, input: { amount: 5 }, only_check: true });
  expect(changed.status).toBe(409);
  const { current } = changed.body;
  expect(amountIn(current)).toBe(5);
  expect(
    (await approve({ digest: current.digest, input: { amount: 5 }, only_check: true })).status,
  ).toBe(200);
  // An input that changes nothing of what is shown has the same digest.
  expect((await approve({ digest, input: { note: 'fine' }, only_check: true })).status).toBe(200);
  const { shown } = (await approve({ input: { amount: 5 }, only_check: true })).body;
  expect(shown.digest).not.toBe(digest);
  const bound = { input: { amount: 5 }, digest: shown.digest };
  expect((await approve(bound)).status).toBe(200);
  const decided = await gate();
  expect(amountIn(decided)).toBe(5);
  const late = await approve({ digest });
  expect([late.status, late.body.current]).toEqual([409, undefined]);
});

test('a gate that shows nothing refuses every digest, and can be decided without one', async () => {
  const workflowId = await engine.define(graph);
  const runId = await engine.trigger(workflowId, { who: 'Ada', amount: 100, parts: [] });
  await engine.until(runId, ['paused']);
  const approve = (body: object) => call('POST', `/api/runs/${runId}/approve`, body);
  const { digest } = (await call('GET', `/api/runs/${runId}/gates/review`)).body;
  await engine.db.query(sql.unsafe`
    UPDATE gates SET digest = NULL, consequences = NULL, situation = NULL WHERE run_id = ${runId}`);
  const refused = await approve({ digest });
  expect([refused.status, refused.body.current]).toEqual([409, undefined]);
  expect((await approve({})).status).toBe(200);
});

test('an input that changes what happens withdraws earlier approvals, which were for something else', async () => {
  const [review, ...others] = graph.nodes;
  const nodes = [Object.assign({}, review, { required: 2 }), ...others];
  const workflowId = await engine.define({ ...graph, nodes });
  const runId = await engine.trigger(workflowId, { who: 'Ada', amount: 100, parts: [] });
  await engine.until(runId, ['paused']);
  const place = { db: engine.db, workspaceId: engine.actor.workspaceId };
  const [ada, bob] = [await addCaller(place), await addCaller(place)];
  const approve = (headers: Record<string, string>, body: object) =>
    call('POST', `/api/runs/${runId}/approve`, body, headers);
  const gate = async () =>
    (await call('GET', `/api/runs/${runId}`)).body.pending_gates.find(
      ({ step_key }: { step_key: string }) => step_key === 'review',
    );
  expect((await approve(ada.headers, {})).status).toBe(200);
  expect((await gate()).decisions).toHaveLength(1);
  expect((await approve(bob.headers, { input: { amount: 5 } })).status).toBe(200);
  const [left, ...rest] = (await gate()).decisions;
  expect([left.member_id, rest]).toEqual([bob.id, []]);
  const { body } = await call('GET', `/api/runs/${runId}/gates/review`);
  expect(amountIn(body)).toBe(5);
  // The same input again changes nothing more, so this is the second approval of it.
  expect((await approve(ada.headers, { digest: body.digest })).status).toBe(200);
  expect(await gate()).toBeUndefined();
});

test('a step that asks for itself is a next decision, and shows what follows it', async () => {
  const graph = {
    nodes: [
      { id: 'review', kind: 'human_gate', prompt: 'Go on?' } as never,
      { ...(request('pay', { url: 'https://bank.test/pay', method: 'POST' }) as object) } as never,
      request('tell', { url: 'https://mail.test/{who}', method: 'POST' }),
      request('sorry', { url: 'https://mail.test/sorry', method: 'POST' }),
    ],
    edges: [edge('review', 'pay'), edge('pay', 'tell'), edge('pay', 'sorry', 'error')],
  };
  Object.assign(graph.nodes[1]!, { approval: 'always' });
  const runId = await engine.start(graph, { who: 'Ada' });
  await engine.until(runId, ['paused']);
  const { body: gate } = await call('GET', `/api/runs/${runId}/gates/review`);
  expect(gate.consequences.approve).toEqual({ effects: [], more: 3, next_gates: ['pay'] });
  await call('POST', `/api/runs/${runId}/approve`, { digest: gate.digest });
  await engine.until(runId, ['paused']);
  const { body: asks } = await call('GET', `/api/runs/${runId}/gates/pay`);
  const keysOf = (answer: { effects: { step_key: string; certainty: string }[] }) =>
    answer.effects.map(({ step_key, certainty }) => [step_key, certainty]);
  expect(asks.kind).toBe('tool_call');
  expect(keysOf(asks.consequences.approve).toSorted()).toEqual([
    ['sorry', 'conditional'],
    ['tell', 'conditional'],
  ]);
  expect(keysOf(asks.consequences.reject)).toEqual([['sorry', 'certain']]);
  await engine.cancel(runId);
});

test('the input of a rejection counts, and that of earlier approvals when the run pauses again', async () => {
  const send = request('send', {
    url: 'https://mail.test/',
    method: 'POST',
    body: { amount: '{amount}' },
  });
  const two = { id: 'two', kind: 'human_gate', required: 2 } as never;
  const workflowId = await engine.define({
    nodes: [two, send, { id: 'other', kind: 'human_gate' }, echo('after')],
    edges: [edge('two', 'send', 'false'), edge('other', 'after')],
  });
  const runId = await engine.trigger(workflowId, { amount: 100 });
  await engine.until(runId, ['paused']);
  const place = { db: engine.db, workspaceId: engine.actor.workspaceId };
  const ada = await addCaller(place);
  const approve = (body: object, headers = {}) =>
    call('POST', `/api/runs/${runId}/approve`, { step_key: 'two', ...body }, headers);
  const sent = async () =>
    (await call('GET', `/api/runs/${runId}/gates/two`)).body.consequences.reject.effects[0]
      .arguments.body;
  // The other gate can still change it.
  expect(await sent()).toEqual({ amount: null });
  expect((await approve({ input: { amount: 5 } }, ada.headers)).status).toBe(200);
  await engine.decide(runId, { stepKey: 'other', approved: true });
  await engine.until(runId, ['paused']);
  expect(await sent()).toEqual({ amount: 5 });
  const rejected = { approved: false, input: { amount: 3 } };
  const { shown } = (await approve({ ...rejected, only_check: true })).body;
  expect(shown.consequences.reject.effects[0].arguments.body).toEqual({ amount: 3 });
  expect((await approve({ ...rejected, digest: shown.digest })).status).toBe(200);
});

test('a decision about another gate changes what a gate shows, also while a step after that is in progress', async () => {
  const release = tools.hold('slow');
  const pay = request('pay', {
    url: 'https://bank.test/pay',
    method: 'POST',
    body: { amount: '{amount}', note: '{slow.status}' },
  });
  const workflowId = await engine.define({
    nodes: [
      ...[
        { id: 'one', kind: 'human_gate' },
        { id: 'two', kind: 'human_gate' },
      ],
      ...[tools.node('slow'), { id: 'both', kind: 'merge' }, pay],
    ] as never,
    edges: [
      ...[edge('one', 'slow', 'true'), edge('slow', 'both'), edge('two', 'both', 'true')],
      edge('both', 'pay'),
    ],
  });
  const runId = await engine.trigger(workflowId, { amount: 100 });
  await engine.until(runId, ['paused']);
  const approve = (step_key: string, body: object) =>
    call('POST', `/api/runs/${runId}/approve`, { step_key, ...body });
  const { body: before } = await call('GET', `/api/runs/${runId}/gates/two`);
  expect(before.consequences.approve).toEqual({ effects: [], more: 1, next_gates: [] });
  expect((await approve('one', { input: { amount: 5 } })).status).toBe(200);
  await eventually(() => tools.calls('slow').length === 1);
  const { digest } = before;
  const stale = await approve('two', { digest });
  expect(stale.status).toBe(409);
  const { current } = stale.body;
  const [effect] = current.consequences.approve.effects;
  expect(effect).toMatchObject({
    ...{ step_key: 'pay', arguments: { body: { amount: 5, note: null } } },
    unknown: [{ path: ['body', 'note'] }],
  });
  expect((await approve('two', { only_check: true })).body.shown).toEqual(current);
  expect((await approve('two', { digest: current.digest })).status).toBe(200);
  const { body: after } = await call('GET', `/api/runs/${runId}/gates/two`);
  expect(after.consequences).toEqual(current.consequences);
  release();
  await engine.cancel(runId);
});

test('what follows another decision can still write what an effect reads', async () => {
  const asks = {
    ...{ id: 'asks', kind: 'agent', prompt: 'Go' },
    mock: { turns: [{ calls: [{ tool: 'json_transform', arguments: { expression: '1' } }] }] },
    tools: [{ name: 'json_transform', approval: 'always' }],
  };
  const workflowId = await engine.define({
    nodes: [
      ...[asks, echo('amount', '5'), { id: 'review', kind: 'human_gate' }],
      request('pay', {
        url: 'https://bank.test/pay',
        method: 'POST',
        body: { amount: '{amount}' },
      }),
    ] as never,
    edges: [edge('asks', 'amount'), edge('review', 'pay', 'true')],
  });
  const runId = await engine.trigger(workflowId, { amount: 100 });
  await engine.until(runId, ['paused']);
  const { body } = await call('GET', `/api/runs/${runId}/gates/review`);
  const [pay] = body.consequences.approve.effects;
  expect([pay.arguments.body, pay.unknown]).toEqual([
    { amount: null },
    [{ path: ['body', 'amount'], reads: ['amount'] }],
  ]);
  await engine.cancel(runId);
});

test('a gate shows what a fork merges into the state after it, and does not know it before', async () => {
  const pay = { url: `${tools.url}/pay`, method: 'POST', body: { amount: '{amount}' } };
  const graphOf = (prompt: string) => ({
    nodes: [
      { ...(mock('ask', { output: 'x' }) as object), prompt },
      { id: 'review', kind: 'human_gate' },
      ...[mock('check', { output: 'x' }), request('pay', pay)],
    ],
    edges: [edge('ask', 'review'), edge('review', 'check', 'true'), edge('check', 'pay')],
  });
  const id = await engine.define(graphOf('one') as never);
  const runId = await engine.trigger(id, { amount: 100 });
  await engine.until(runId, ['paused']);
  await engine.approve(runId);
  await engine.ended(runId);
  await call('PUT', `/api/workflows/${id}`, { graph: graphOf('two') });
  const fork = async (from_step: string) => {
    const forked = { from_step, version: 2, state: { amount: 5 } };
    const { body } = await call('POST', `/api/runs/${runId}/fork`, forked);
    await engine.until(body.id, ['paused']);
    const { body: gate } = await call('GET', `/api/runs/${body.id}/gates/review`);
    await call('POST', `/api/runs/${body.id}/approve`, { digest: gate.digest });
    expect(await engine.ended(body.id)).toMatchObject({ status: 'success' });
    return amountIn(gate);
  };
  // The answer leads to this step at once.
  expect(await fork('check')).toBe(5);
  expect(await fork('pay')).toBeNull();
  const sent = tools.calls('pay').map(({ body }) => JSON.parse(body).amount);
  expect(sent).toEqual([100, 5, 5]);
});

test('a gate in an item that another decision has ended sets nothing in motion', async () => {
  const workflowId = await engine.define({
    nodes: [
      { id: 'each', kind: 'map', items: '[1]', on_item_error: 'collect' },
      ...[{ id: 'one', kind: 'human_gate' }, { id: 'two', kind: 'human_gate' }, tools.node('send')],
    ] as never,
    edges: [
      ...[edge('each', 'one', 'true'), edge('each', 'two', 'true'), edge('one', 'each', 'true')],
      ...[edge('two', 'send', 'true'), edge('send', 'each')],
    ],
  });
  const runId = await engine.trigger(workflowId);
  await engine.until(runId, ['paused']);
  await engine.decide(runId, { stepKey: 'one#1', approved: false });
  const answer = { step_key: 'two#1', only_check: true };
  const { body } = await call('POST', `/api/runs/${runId}/approve`, answer);
  expect(body.shown.consequences.approve).toEqual({ effects: [], more: 0, next_gates: [] });
  await engine.decide(runId, { stepKey: 'two#1', approved: true });
  expect(await engine.ended(runId)).toMatchObject({ status: 'success' });
  expect(tools.calls('send')).toEqual([]);
});

test('a decision about the call of an agent beside a gate counts at once for what the gate shows', async () => {
  const made = { tool: 'json_transform', arguments: { expression: '1 + 1' } };
  const graph = {
    nodes: [
      { id: 'review', kind: 'human_gate', prompt: 'Pay?' } as never,
      {
        ...{ id: 'clerk', kind: 'agent', prompt: 'Add' },
        tools: [{ name: 'json_transform', approval: 'always' }],
        mock: { delay_ms: 1_500, turns: [{ calls: [made] }, { output: 'done' }] },
      } as never,
      { id: 'both', kind: 'merge' } as never,
      request('pay', { url: 'https://bank.test/pay', method: 'POST' }),
    ],
    edges: [edge('review', 'both'), edge('clerk', 'both'), edge('both', 'pay')],
  };
  const runId = await engine.start(graph, {});
  await engine.until(runId, ['paused']);
  const { body: before } = await call('GET', `/api/runs/${runId}/gates/review`);
  expect(before.consequences.approve).toMatchObject({ effects: [], more: 1 });
  const { body: run } = await call('GET', `/api/runs/${runId}`);
  const asks = run.pending_gates.find(({ kind }: { kind: string }) => kind === 'tool_call');
  await call('POST', `/api/runs/${runId}/approve`, { digest: asks.tool_call.digest });
  // The agent has not answered yet.
  const { status, body } = await call('POST', `/api/runs/${runId}/approve`, {
    ...{ node_id: 'review', only_check: true },
  });
  expect([status, body.detail]).toEqual([200, undefined]);
  expect(body.shown.digest).not.toBe(before.digest);
  expect(body.shown.consequences.approve.effects).toMatchObject([
    { step_key: 'pay', certainty: 'conditional' },
  ]);
  await engine.cancel(runId);
});
