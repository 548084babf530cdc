import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import { findBound } from '#shared/db/gates/shown.ts';
import { sql } from '#shared/db/pool.ts';
import { digestOfItem } from '#shared/graph/consequences/many-items.ts';
import { useToolServer } from '#test/fakes/tool-server.ts';
import { edge, eventually, useEngine } from '#test/support/engine.ts';

const engine = useEngine();
const tools = useToolServer();

const gate = { id: 'review', kind: 'human_gate', prompt: 'Go on?' } as never;
const each = { id: 'each', kind: 'map', items: 'list', concurrency: 1 } as never;
const pay = () =>
  tools.node('pay', {
    params: {
      url: `${tools.url}/pay`,
      method: 'POST',
      body: { amount: '{each.item}', note: '{late}' },
    },
  });
const late = () => tools.node('late');

/** A gate before a step and a map: each item reads what the step returns. */
const graph = () => ({
  nodes: [gate, late(), each, pay()],
  edges: [
    ...[edge('review', 'late', 'true'), edge('late', 'each')],
    ...[edge('each', 'pay', 'true'), edge('pay', 'each')],
  ],
});

const sizes = z.object({ items: z.int().nullable(), shown: z.int(), rows: z.int() });
const sizesOf = (runId: string) =>
  engine.db.one(sql.type(sizes)`
    SELECT sum(pg_column_size(items))::int AS items, sum(pg_column_size(shown))::int AS shown, count(*)::int AS rows
    FROM gate_effects WHERE run_id = ${runId}`);
const effectsOf = async (runId: string) => {
  const row = z.object({ effects: z.array(z.any()), size: z.int() });
  return engine.db.one(sql.type(row)`
    SELECT consequences -> 'approve' -> 'effects' AS effects, pg_column_size(consequences) + coalesce(pg_column_size(items), 0) AS size
    FROM gates WHERE run_id = ${runId}`);
};
const list = (count: number) => Array.from({ length: count }, (_, at) => at);
const paid = () => tools.calls('pay').map(({ body }) => JSON.parse(body).amount);

test('the items of a map with more than 100 are bound one by one', async () => {
  const runId = await engine.start(graph(), { list: list(103) });
  await engine.until(runId, ['paused']);
  const { effects } = await effectsOf(runId);
  const shown = effects.find(({ node_id }) => node_id === 'pay');
  expect(shown).toMatchObject({
    ...{ step_key: 'pay#*', certainty: 'per_item', executions: { min: 103, max: 103 } },
    items: { count: 103, unknown: [{ path: ['body', 'note'], reads: ['late'] }] },
  });
  const amounts = (some: { body: { amount: number } }[]) => some.map(({ body }) => body.amount);
  expect(amounts(shown.items.first)).toEqual(list(10));
  expect(amounts(shown.items.last)).toEqual(list(103).slice(-10));
  const release = tools.hold('late');
  await engine.approve(runId);
  await eventually(() => tools.calls('late').length === 1);
  // What the rules of the engine exclude: the approver saw another amount in the third item.
  await engine.db.query(sql.unsafe`
    UPDATE gate_effects SET items = overlay(items PLACING '\\x00000000'::bytea FROM 33)
    WHERE run_id = ${runId} AND node_id = 'pay'`);
  release();
  const { pending_gate: asks } = await engine.until(runId, ['paused']);
  expect(asks).toMatchObject({ kind: 'tool_call', step_key: 'pay#3' });
  expect(paid()).toEqual([0, 1]);
  await engine.approve(runId, { digest: asks?.tool_call?.digest });
  expect(await engine.ended(runId)).toMatchObject({ status: 'success' });
  expect(paid()).toEqual(list(103));
});

test('10,000 items take less than half a megabyte, and each can be looked up', async () => {
  const runId = await engine.start(graph(), { list: list(10_000) });
  await engine.until(runId, ['paused']);
  const { effects, size } = await effectsOf(runId);
  expect(effects.find(({ node_id }) => node_id === 'pay').items.count).toBe(10_000);
  expect(size).toBeLessThan(500_000);
  const release = tools.hold('late');
  await engine.approve(runId);
  expect(await sizesOf(runId)).toMatchObject({ items: expect.any(Number), rows: 2 });
  const { items, shown } = await sizesOf(runId);
  expect(items! + shown).toBeLessThan(170_000);
  for (const at of [1, 11, 5_000, 10_000]) {
    const bound = await findBound(engine.db, { runId, nodeId: 'pay', stepKey: `pay#${at}` });
    const sent = (amount: number) => ({
      ...{ url: `${tools.url}/pay`, method: 'POST' },
      body: { amount, note: 'known later' },
    });
    const digest = (amount: number) => digestOfItem(sent(amount), bound!.shown.items!, jsonDigest);
    expect(digest(at - 1)).toBe(bound!.item);
    expect(digest(at)).not.toBe(bound!.item);
  }
  await engine.cancel(runId);
  release();
});

test('500 effects of one gate are listed and bound one by one', async () => {
  const maps = list(5).map((at) => ({ id: `each${at}`, kind: 'map', items: 'list' }) as never);
  const sends = list(5).map((at) =>
    tools.node(`send${at}`, {
      params: { url: `${tools.url}/send${at}`, method: 'POST', body: `{each${at}.item}` },
    }),
  );
  const edges = list(5).flatMap((at) => [
    edge('review', `each${at}`, 'true'),
    ...[edge(`each${at}`, `send${at}`, 'true'), edge(`send${at}`, `each${at}`)],
  ]);
  const runId = await engine.start(
    { nodes: [gate, ...maps, ...sends], edges },
    { list: list(100) },
  );
  await engine.until(runId, ['paused']);
  const { effects, size } = await effectsOf(runId);
  expect(effects).toHaveLength(500);
  expect(size).toBeLessThan(200_000);
  await engine.approve(runId);
  expect(await engine.until(runId, ['success', 'failed'], 100_000)).toMatchObject({
    status: 'success',
  });
  expect(await sizesOf(runId)).toMatchObject({ rows: 500, items: null });
  expect(
    tools
      .calls('send4')
      .map(({ body }) => Number(body))
      .toSorted((a, b) => a - b),
  ).toEqual(list(100));
});
