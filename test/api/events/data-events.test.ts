import { describe, expect, test } from '@jest/globals';
import { feedInput } from '#shared/contract/data/feed.ts';
import { createFeed } from '#shared/db/data/feeds.ts';
import { sql } from '#shared/db/pool.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { chain, eventually } from '#test/support/engine.ts';

const { engine, call } = useEngineApi();

interface Sent {
  id: string;
  name: string;
  data: Record<string, unknown>;
  source: string;
  run_id: string | null;
  depth: number;
  started: number;
}

const feed = async (rest: object = {}): Promise<string> =>
  (await createFeed(engine.db, engine.actor, feedInput.parse({ name: 'Permits', ...rest }))).id;
const permit = (rest: object = {}) => ({
  ...{ type: 'entity', external_key: 'p-1', entity_type: 'permit', canonical_name: 'Permit 1' },
  ...{ attributes: {}, ...rest },
});
const filed = (rest: object = {}) => ({
  ...{ type: 'event', external_key: 'p-1-filed', event_type: 'permit_filed', summary: 'Filed' },
  ...{ primary_external_key: 'p-1', occurred_at: '2026-01-01T00:00:00Z', ...rest },
});
const ingest = async (feedId: string, ...records: object[]) => {
  const { status, body } = await call('POST', '/api/data/ingest', { feed_id: feedId, records });
  expect([status, body.errors]).toEqual([200, []]);
};
const workflow = async (nodes: object[] = [{ id: 'a', kind: 'agent', mock: { output: 'ok' } }]) => {
  const edges = nodes.slice(1).map((node, at) => ({
    source: (nodes[at] as { id: string }).id,
    target: (node as { id: string }).id,
  }));
  const { status, body } = await call('POST', '/api/workflows', {
    ...{ name: 'Of data', graph: { nodes, edges } },
  });
  expect(status).toBe(201);
  return body.id as string;
};
const addTrigger = async (workflowId: string, trigger: object) => {
  const { status, body } = await call('POST', `/api/workflows/${workflowId}/triggers`, trigger);
  expect(status).toBe(201);
  return body.id as string;
};
const remove = (triggerId: string) => call('DELETE', `/api/triggers/${triggerId}`);
const runsOf = async (workflowId: string) =>
  (await call('GET', `/api/workflows/${workflowId}/runs`)).body.runs as { id: string }[];
const firstRunOf = async (workflowId: string) => {
  await eventually(async () => (await runsOf(workflowId)).length > 0);
  const [run] = await runsOf(workflowId);
  return engine.until(run!.id, ['success', 'failed']);
};
/** The events of a feed or source, the oldest first. */
const eventsOf = async (id: string): Promise<Sent[]> => {
  const { body } = await call('GET', '/api/events?limit=200');
  return (body.events as Sent[])
    .filter(({ data }) => data['feed_id'] === id || data['source_id'] === id)
    .toReversed();
};
const waiting = async (runId: string) => {
  await eventually(async () => (await call('GET', `/api/runs/${runId}`)).body.waiting.length === 1);
};

describe('a trigger', () => {
  test('starts a run when an event of its feed is verified, and for no other', async () => {
    const [feedId, other] = [await feed(), await feed({ name: 'Other permits' })];
    const id = await workflow();
    const trigger = await addTrigger(id, {
      event: 'intelligence_event.verified',
      match: `event.data.feed_id == '${feedId}'`,
      input: { summary: '{event.data.summary}' },
    });
    await ingest(other, permit(), filed({ verification_status: 'human_reviewed' }));
    await ingest(feedId, permit(), filed());
    await ingest(feedId, filed({ verification_status: 'human_reviewed', summary: 'Verified' }));
    const run = await firstRunOf(id);
    expect(run).toMatchObject({ trigger: 'event', input: { summary: 'Verified' } });
    // Verified again, it changes nothing.
    await ingest(feedId, filed({ verification_status: 'human_reviewed', summary: 'Verified' }));
    const [event] = await eventsOf(feedId);
    expect(event).toMatchObject({
      ...{ name: 'intelligence_event.verified', source: 'data', run_id: null, depth: 0 },
      data: { feed_id: feedId, event_type: 'permit_filed', summary: 'Verified' },
    });
    expect(await eventsOf(feedId)).toHaveLength(1);
    await eventually(async () => (await eventsOf(other)).length === 1);
    expect(await runsOf(id)).toHaveLength(1);
    await remove(trigger);
  });

  test('starts a run when a permit becomes verified, by the status in the event', async () => {
    const feedId = await feed();
    const id = await workflow();
    const trigger = await addTrigger(id, {
      event: 'entity.updated',
      match: `event.data.feed_id == '${feedId}' and event.data.verification_status == 'human_reviewed'`,
    });
    await ingest(feedId, permit(), permit({ attributes: { stage: 2 } }));
    await ingest(feedId, permit({ verification_status: 'human_reviewed' }));
    const run = await firstRunOf(id);
    expect(run.input).toMatchObject({ canonical_name: 'Permit 1', version: 3 });
    expect(await runsOf(id)).toHaveLength(1);
    await remove(trigger);
  });

  test('gets every event of a batch once, in order', async () => {
    const feedId = await feed();
    const id = await workflow();
    const trigger = await addTrigger(id, { event: 'entity.created' });
    const records = Array.from({ length: 60 }, (_, n) => permit({ external_key: `k${n}` }));
    await ingest(feedId, ...records);
    await eventually(async () => (await eventsOf(feedId)).every(({ started }) => started === 1));
    const sent = await eventsOf(feedId);
    expect(sent).toHaveLength(60);
    expect(new Set(sent.map(({ data }) => data['entity_id'])).size).toBe(60);
    await remove(trigger);
  });

  test('starts nothing for demo records, and nothing is stored', async () => {
    const feedId = await feed({ is_demo: true });
    const id = await workflow();
    const trigger = await addTrigger(id, { event: 'entity.created' });
    await ingest(feedId, permit());
    expect(await eventsOf(feedId)).toEqual([]);
    expect(await runsOf(id)).toEqual([]);
    await remove(trigger);
  });

  test('gets changes of feeds, and failures and recoveries of sources', async () => {
    const ids = [await workflow(), await workflow(), await workflow()];
    const names = ['feed.status_changed', 'source.failed', 'source.recovered'];
    const triggers = [];
    for (const [at, event] of names.entries()) triggers.push(await addTrigger(ids[at]!, { event }));
    const feedId = await feed();
    expect((await call('PUT', `/api/data/feeds/${feedId}`, { status: 'paused' })).status).toBe(200);
    const source = (await call('POST', '/api/data/sources', { name: 'City', type: 'portal' })).body;
    const report = (body: object) => call('POST', `/api/data/sources/${source.id}/report`, body);
    for (let n = 0; n < 4; n += 1) await report({ ok: false, error: 'closed' });
    await report({ ok: true });
    const runs = [];
    for (const id of ids) runs.push(await firstRunOf(id));
    expect(runs.map(({ input }) => input)).toMatchObject([
      { feed_id: feedId, to: 'paused' },
      { source_id: source.id, error: 'closed' },
      { source_id: source.id },
    ]);
    expect(await eventsOf(source.id)).toHaveLength(2);
    for (const trigger of triggers) await remove(trigger);
  });
});

describe('a wait', () => {
  const until = (feedId: string) => ({
    ...{ id: 'verified', kind: 'wait' },
    event: {
      name: 'intelligence_event.verified',
      match: `event.data.feed_id == '${feedId}'`,
    },
  });

  test('ends with an event that came before it was reached', async () => {
    const feedId = await feed();
    const gate = { id: 'ready', kind: 'human_gate', prompt: 'Ready?' };
    const id = await workflow([gate, until(feedId)]);
    const runId = await engine.trigger(id, {});
    await engine.until(runId, ['paused']);
    await ingest(feedId, permit(), filed({ verification_status: 'human_reviewed' }));
    const [event] = await eventsOf(feedId);
    expect((await call('POST', `/api/runs/${runId}/approve`, {})).status).toBe(200);
    const run = await engine.until(runId, ['success', 'failed']);
    expect(run).toMatchObject({ status: 'success', state: { verified: { id: event!.id } } });
  });

  test('of a draft ends, too, and one of `any`', async () => {
    const feedId = await feed();
    const { event, ...node } = until(feedId);
    const id = await workflow();
    const draft = { graph: { nodes: [{ ...node, any: [{ name: 'x.y' }, event] }], edges: [] } };
    expect((await call('PUT', `/api/workflows/${id}/draft`, draft)).status).toBeLessThan(300);
    const { status, body } = await call('POST', `/api/workflows/${id}/runs?draft=true`, {});
    expect(status).toBe(201);
    await ingest(feedId, permit(), filed({ verification_status: 'human_reviewed' }));
    await engine.until(body.id, ['success']);
  });

  test('has events stored only while a run with it is open', async () => {
    const feedId = await feed();
    const id = await workflow([until(feedId)]);
    const verify = (key: string) =>
      ingest(feedId, permit(), filed({ external_key: key, verification_status: 'human_reviewed' }));
    await verify('early');
    expect(await eventsOf(feedId)).toEqual([]);
    const runId = await engine.trigger(id, {});
    await waiting(runId);
    await verify('now');
    await engine.until(runId, ['success']);
    await verify('late');
    expect(await eventsOf(feedId)).toHaveLength(1);
    // Only the names that its graph has.
    expect((await eventsOf(feedId)).map(({ name }) => name)).toEqual([
      'intelligence_event.verified',
    ]);
  });

  test('for an event that the service does not send is invalid', async () => {
    const id = await workflow([{ id: 'w', kind: 'wait', event: { name: 'run.completed' } }]);
    const { status, body } = await call('POST', `/api/workflows/${id}/runs`, {});
    expect(status).toBe(400);
    expect(JSON.stringify(body)).toContain('is reserved, and the service sends no such event');
  });
});

test('a change that is rolled back sends nothing', async () => {
  const feedId = await feed();
  const id = await workflow();
  const trigger = await addTrigger(id, { event: 'entity.created' });
  await engine.db.query(sql.unsafe`
    CREATE FUNCTION refuse_audit() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE EXCEPTION 'no'; END $$`);
  await engine.db.query(sql.unsafe`
    CREATE TRIGGER refuse_audit BEFORE INSERT ON audit_log FOR EACH ROW WHEN (NEW.action = 'data_ingest') EXECUTE FUNCTION refuse_audit()`);
  const refused = await call('POST', '/api/data/ingest', { feed_id: feedId, records: [permit()] });
  expect(refused.status).toBe(500);
  await engine.db.query(sql.unsafe`DROP TRIGGER refuse_audit ON audit_log`);
  await engine.db.query(sql.unsafe`DROP FUNCTION refuse_audit`);
  expect(await eventsOf(feedId)).toEqual([]);
  await ingest(feedId, permit());
  await firstRunOf(id);
  expect(await eventsOf(feedId)).toHaveLength(1);
  await remove(trigger);
});

test('a run that changes data carries its depth, and runs that start each other end after 8', async () => {
  const feedId = await feed();
  const tool = (params: object) => ({
    id: 'keep',
    kind: 'tool',
    tool_name: 'entity_upsert',
    params,
  });
  const id = await engine.define(
    chain(
      tool({
        ...{ feed_id: feedId, external_key: 'ball', entity_type: 'permit', canonical_name: 'Ball' },
        attributes: { version: '{version}' },
      }) as never,
    ),
  );
  const trigger = await addTrigger(id, {
    ...{ event: 'entity.updated', match: `event.data.feed_id == '${feedId}'` },
    input: { version: '{event.data.version}' },
  });
  await ingest(feedId, permit({ external_key: 'ball', canonical_name: 'Ball' }));
  await ingest(
    feedId,
    permit({ external_key: 'ball', canonical_name: 'Ball', attributes: { version: 0 } }),
  );
  const skipOf = async () => (await call('GET', `/api/triggers/${trigger}`)).body.last_skip;
  await eventually(async () => (await skipOf()) !== null, 60_000);
  expect((await skipOf()).reason).toContain('9 runs, each started by an event of the one before');
  const sent = await eventsOf(feedId);
  expect(sent.map(({ depth }) => depth)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(sent.slice(1).every(({ run_id: runId }) => runId !== null)).toBe(true);
  expect(await runsOf(id)).toHaveLength(9);
  await remove(trigger);
});
