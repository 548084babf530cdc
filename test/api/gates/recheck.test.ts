import { expect, test } from '@jest/globals';
import { beginRecheck, storeStarted } from '#shared/db/gates/rechecks.ts';
import { sql } from '#shared/db/pool.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { chain, eventually, mock } from '#test/support/engine.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { addCaller } from '#test/api/people/caller.ts';

const { engine, call } = useEngineApi({ env: { ENCRYPTION_KEY: 'a key for the tests alone' } });
const tools = useToolServer();

const gate = (rest: object = {}) =>
  ({
    id: 'review',
    kind: 'human_gate',
    prompt: 'Pay {total} for {quote.body.name}?',
    recheck: true,
    ...rest,
  }) as never;
const total = {
  id: 'total',
  kind: 'tool',
  tool_name: 'json_transform',
  params: { expression: 'quote.body.price * count' },
} as never;
const read = (name: string) =>
  tools.node(name, { params: { url: `${tools.url}/${name}?of={item}`, method: 'GET' } });
const pay = () =>
  tools.node('pay', {
    params: { url: `${tools.url}/pay`, method: 'POST', body: { amount: '{total}' } },
  });

async function paused(...nodes: never[]): Promise<string> {
  tools.answer('quote', { body: { name: 'tea', price: 7, seen: 1 } });
  const workflowId = await engine.define(chain(...nodes));
  const runId = await engine.trigger(workflowId, { item: 'tea', count: 2 });
  await engine.until(runId, ['paused']);
  return runId;
}

const approve = (runId: string, body: object = {}) =>
  call('POST', `/api/runs/${runId}/approve`, body);
const gateOf = async (runId: string, headers?: Record<string, string>) =>
  (await call('GET', `/api/runs/${runId}/gates/review`, undefined, headers)).body;
/** Moves the end of the last recheck. */
const endedAgo = (runId: string, interval: string) =>
  engine.db.query(sql.unsafe`
    UPDATE gates SET recheck = jsonb_set(recheck, '{finished_at}',
      to_jsonb(clock_timestamp() - ${interval}::interval)) WHERE run_id = ${runId}`);
const auditOf = async (runId: string, action: string) =>
  (await call('GET', `/api/audit?target_id=${runId}&action=${action}`)).body.logs;

test('an approval repeats the reads behind the prompt and counts if the values that were read are the same', async () => {
  const runId = await paused(read('quote'), total, gate(), pay());
  expect(await gateOf(runId)).toMatchObject({
    recheck: {
      reads: [
        {
          step_key: 'quote',
          tool: 'http_request',
          paths: [
            ['body', 'price'],
            ['body', 'name'],
          ],
        },
      ],
      not_repeated: [],
      at: null,
    },
  });
  // Not read by the prompt or an argument.
  tools.answer('quote', { body: { name: 'tea', price: 7, seen: 2 } });
  const { status, body } = await approve(runId);
  expect([status, body.detail]).toEqual([200, undefined]);
  expect(tools.calls('quote').map(({ method, url }) => `${method} ${url}`)).toEqual([
    'GET /quote?of=tea',
    'GET /quote?of=tea',
  ]);
  expect(await engine.ended(runId)).toMatchObject({ status: 'success' });
  expect(tools.calls('pay').map((each) => JSON.parse(each.body))).toEqual([{ amount: 14 }]);
});

test('a changed value refuses the approval with the differences, and an approver can accept them', async () => {
  const runId = await paused(read('quote'), total, gate(), pay());
  const { digest } = await gateOf(runId);
  tools.answer('quote', { body: { name: 'tea', price: 9 } });
  // Nothing can be accepted that was not shown.
  const refused = await approve(runId, { digest, accept_changes: true });
  const difference = {
    ...{ step_key: 'quote', tool: 'http_request', path: ['body', 'price'], before: 7, now: 9 },
  };
  expect([refused.status, refused.body]).toMatchObject([
    409,
    {
      code: 'changed',
      detail:
        "What gate 'review' shows has changed (quote.body.price was 7, now 9): reject it, or approve it with accept_changes",
      stale: { differences: [difference], more: 0 },
    },
  ]);
  const shown = await gateOf(runId);
  expect(shown).toMatchObject({ digest, stale: { differences: [difference] } });
  const run = (await call('GET', `/api/runs/${runId}`)).body;
  expect(run.pending_gates[0]).toMatchObject({ stale: shown.stale, recheck: shown.recheck });
  // Soon after, the result is reused: the other side does not see each attempt.
  await endedAgo(runId, '-1 hour');
  expect((await approve(runId)).status).toBe(409);
  expect((await approve(runId, { only_check: true })).status).toBe(200);
  expect(tools.calls('quote')).toHaveLength(2);
  const place = { db: engine.db, workspaceId: engine.actor.workspaceId };
  const viewer = await addCaller(place, { role: 'viewer' });
  const seen = await gateOf(runId, viewer.headers);
  expect(seen.stale.differences[0]).toMatchObject({ ...difference, before: null, now: null });
  // Later, the reads are repeated again.
  await endedAgo(runId, '6 seconds');
  expect((await approve(runId)).status).toBe(409);
  expect(tools.calls('quote')).toHaveLength(3);
  expect((await approve(runId, { digest, accept_changes: true })).status).toBe(200);
  const { steps } = await engine.ended(runId);
  // What was shown is sent.
  expect(tools.calls('pay').map((each) => JSON.parse(each.body))).toEqual([{ amount: 14 }]);
  const [decided] = steps.flatMap((step) => step.decisions ?? []);
  expect(decided).toMatchObject({ approved: true, accepted_changes: [difference] });
  const [entry] = await auditOf(runId, 'approve');
  expect(entry.details).toMatchObject({
    digest,
    accepted_changes: [{ step_key: 'quote', path: ['body', 'price'], before: 7, now: 9 }],
  });
});

test('a rejection needs no recheck', async () => {
  const runId = await paused(read('quote'), total, gate(), pay());
  tools.answer('quote', { body: { name: 'tea', price: 9 } });
  expect((await approve(runId, { approved: false })).status).toBe(200);
  expect(tools.calls('quote')).toHaveLength(1);
});

test('a read that fails counts as different, also behind a merge', async () => {
  const merge = { id: 'join', kind: 'merge' } as never;
  const runId = await paused(read('quote'), merge, gate({ prompt: '{join.quote.body.price}' }));
  expect((await gateOf(runId)).recheck.reads).toEqual([
    { step_key: 'quote', tool: 'http_request', paths: [['body', 'price']] },
  ]);
  tools.answer('quote', { status: 500, body: { name: 'tea', price: 7 } });
  const { status, body } = await approve(runId);
  expect([status, body.code]).toEqual([409, 'changed']);
  expect(body.stale.differences).toMatchObject([{ step_key: 'quote', path: [], before: null }]);
  expect(body.stale.differences[0].problem).toContain('The read could not be repeated: ');
});

test('what agents and other tools read is named as not repeated, and a young read is not repeated', async () => {
  const opinion = mock('opinion', { output: 'fine' });
  const recheck = { after_seconds: 3_600 };
  const prompt = '{opinion} {pay.body.name} {quote.body.price}';
  const runId = await paused(read('quote'), opinion, pay2(), gate({ recheck, prompt }));
  const shown = await gateOf(runId);
  expect(shown.recheck).toMatchObject({
    after_seconds: 3_600,
    reads: [{ step_key: 'quote' }],
    not_repeated: [
      { step_key: 'opinion', kind: 'agent' },
      { step_key: 'pay', kind: 'tool' },
    ],
  });
  expect((await approve(runId)).status).toBe(200);
  expect(tools.calls('quote')).toHaveLength(1);
});

const pay2 = () => tools.node('pay');

test('a deadline that finds a difference rejects, and one that finds none approves', async () => {
  const timed = gate({ timeout_seconds: 0.5, on_timeout: 'approve' });
  const same = await paused(read('quote'), total, timed, pay());
  expect(await engine.ended(same)).toMatchObject({ status: 'success' });
  expect(tools.calls('quote')).toHaveLength(2);
  expect(tools.calls('pay')).toHaveLength(1);
  // Each call of it gets another price.
  let price = 6;
  tools.answer('quote', { respond: () => ({ name: 'tea', price: (price += 1) }) });
  const workflowId = await engine.define(chain(read('quote'), total, timed, pay()));
  const run = await engine.ended(await engine.trigger(workflowId, { item: 'tea', count: 2 }));
  expect(run).toMatchObject({ status: 'failed', failure: { kind: 'rejected' } });
  expect(run.error).toContain('what it shows has changed');
  expect(tools.calls('pay')).toHaveLength(1);
  const [entry] = await auditOf(run.id, 'gate_timeout');
  expect(entry.details).toMatchObject({
    on_timeout: 'approve',
    changes: [{ path: ['body', 'price'], before: 7, now: 8 }],
  });
});

test('a custom tool is repeated only if it is confirmed to read', async () => {
  const tool = (name: string, read_only: boolean) =>
    call('POST', '/api/tools', { name, endpoint_url: `${tools.url}/${name}`, read_only });
  await tool('rate', true);
  await tool('charge', false);
  const nodes = ['rate', 'charge'].map(
    (id) => ({ id, kind: 'tool', tool_name: `custom:${id}`, params: { of: '{item}' } }) as never,
  );
  tools.answer('rate', { body: { value: 3 } });
  const after = ['rate', 'charge'].map(
    (id) => ({ id: `${id}_after`, kind: 'tool', tool_name: `custom:${id}`, params: {} }) as never,
  );
  const asked = gate({ prompt: '{rate.value} {charge.name}' });
  const runId = await paused(...nodes, asked, ...after);
  const { consequences, recheck } = await gateOf(runId);
  expect(consequences.approve.effects).toMatchObject([
    { node_id: 'rate_after', effect: 'read' },
    { node_id: 'charge_after', effect: 'write' },
  ]);
  expect(recheck).toMatchObject({
    reads: [{ step_key: 'rate', tool: 'custom:rate', paths: [['value']] }],
    not_repeated: [{ step_key: 'charge', kind: 'tool' }],
  });
  tools.answer('rate', { body: { value: 4 } });
  const { body } = await approve(runId);
  expect(body.stale.differences).toMatchObject([{ step_key: 'rate', before: 3, now: 4 }]);
  expect(tools.calls('rate')).toHaveLength(2);
  expect(tools.calls('charge')).toHaveLength(1);
});

test('approvals at the same time share one recheck, and several approvers are each checked', async () => {
  const runId = await paused(read('quote'), total, gate({ required: 2 }), pay());
  const place = { db: engine.db, workspaceId: engine.actor.workspaceId };
  const [ada, bob] = [await addCaller(place), await addCaller(place)];
  const by = ({ headers }: typeof ada) => call('POST', `/api/runs/${runId}/approve`, {}, headers);
  const { promise: until, resolve: release } = Promise.withResolvers<undefined>();
  tools.answer('quote', { until, body: { name: 'tea', price: 7 } });
  const first = by(ada);
  await eventually(() => tools.calls('quote').length === 2);
  // Nothing is read for this one while the first recheck is in progress.
  const second = by(bob);
  const gateRow = { runId, step_key: 'review', round: 1 };
  const again = { id: 'another', digest: null, lostMs: 60_000 };
  expect(await beginRecheck(engine.db, gateRow, again)).toBeUndefined();
  release(undefined);
  expect([(await first).status, (await second).status]).toEqual([200, 200]);
  expect(await engine.ended(runId)).toMatchObject({ status: 'success' });
});

test('a fork that asks again repeats the reads of its own steps', async () => {
  const runId = await paused(read('quote'), total, gate(), pay());
  expect((await approve(runId)).status).toBe(200);
  await engine.ended(runId);
  const forked = await call('POST', `/api/runs/${runId}/fork`, { from_step: 'pay' });
  expect(forked.status).toBe(201);
  await engine.until(forked.body.id, ['paused']);
  tools.answer('quote', { body: { name: 'tea', price: 9 } });
  const { status, body } = await approve(forked.body.id);
  expect([status, body.code]).toEqual([409, 'changed']);
  expect(body.stale.differences).toMatchObject([{ step_key: 'quote', before: 7, now: 9 }]);
  const accepted = await approve(forked.body.id, { accept_changes: true });
  expect(accepted.status).toBe(200);
  expect(await engine.ended(forked.body.id)).toMatchObject({ status: 'success' });
  expect(tools.calls('pay').map((each) => JSON.parse(each.body))).toEqual([
    { amount: 14 },
    { amount: 14 },
  ]);
});

test('a recheck whose process has died is begun again, and one that it had started is continued', async () => {
  const runId = await paused(read('quote'), total, gate({ required: 2 }), pay());
  const { digest } = await gateOf(runId);
  const place = { runId, step_key: 'review', round: 1 };
  const lost = await beginRecheck(engine.db, place, { id: 'lost', digest, lostMs: 0 });
  expect(lost).toMatchObject({ id: 'lost', digest });
  await engine.db.query(sql.unsafe`
    UPDATE gates SET recheck = jsonb_set(recheck, '{started_at}',
      to_jsonb(clock_timestamp() - interval '30 seconds')) WHERE run_id = ${runId}`);
  const { headers } = await addCaller({ db: engine.db, workspaceId: engine.actor.workspaceId });
  expect((await call('POST', `/api/runs/${runId}/approve`, {}, headers)).status).toBe(200);
  expect(tools.calls('quote')).toHaveLength(2);
  await endedAgo(runId, '6 seconds');
  await beginRecheck(engine.db, place, { id: 'started', digest, lostMs: 0 });
  await storeStarted(engine.db, place, { id: 'started', runs: [] });
  expect((await approve(runId)).status).toBe(200);
  expect(tools.calls('quote')).toHaveLength(2);
  expect(await engine.ended(runId)).toMatchObject({ status: 'success' });
});

test('a long value is shown with its start, which does not end within a character', async () => {
  const runId = await paused(read('quote'), gate({ prompt: '{quote.body.name}' }));
  tools.answer('quote', { body: { name: '🍵'.repeat(600) } });
  const { status, body } = await approve(runId);
  expect([status, body.code]).toEqual([409, 'changed']);
  const [{ before, now }] = body.stale.differences;
  expect(before).toBe('tea');
  expect(now).toBe(`"${'🍵'.repeat(499)}…`);
  expect((await approve(runId, { accept_changes: true })).status).toBe(200);
  const [entry] = await auditOf(runId, 'approve');
  expect(entry.details.accepted_changes[0].now).toBe(`"${'🍵'.repeat(99)}…`);
});
