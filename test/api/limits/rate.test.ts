import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { Run } from '#shared/contract/runs/run.ts';
import { sql } from '#shared/db/pool.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { chain, echo } from '#test/support/engine.ts';
import { patiently } from '#test/support/patience.ts';
import { logPlaces, placeLog } from '#test/support/place-log.ts';

const { engine, call } = useEngineApi();

const workflow = async (limits: object, graph: object = chain(echo('a'))): Promise<string> => {
  const { body } = await call('POST', '/api/workflows', { name: 'limited', graph });
  const set = await call('PUT', `/api/workflows/${body.id}/limits`, limits);
  expect([set.status, set.body.detail]).toEqual([200, undefined]);
  return body.id;
};
const trigger = async (id: string, input: object = {}) =>
  call('POST', `/api/workflows/${id}/runs`, input);
const gate = chain({ id: 'ok', kind: 'human_gate', prompt: 'Go on?' });

describe('a limit of the rate', () => {
  test('holds in any window, and lets the next run start as soon as it can', async () => {
    const id = await workflow({ rate: { limit: 2, per_seconds: 2 } });
    const runs: Run[] = [];
    for (let n = 0; n < 6; n += 1) runs.push((await trigger(id)).body);
    expect(runs.map(({ queued }) => queued?.for)).toEqual([
      ...[undefined, undefined, 'rate', 'rate', 'rate', 'rate'],
    ]);
    expect(runs[3]!.queued).toMatchObject({ for: 'rate', position: 2, length: 2 });
    for (const run of runs) await engine.until(run.id, ['success']);
    const starts = await engine.db.anyFirst(sql.type(z.object({ ms: z.number() }))`
      SELECT (extract(epoch FROM taken_at) * 1000)::float8 AS ms FROM rate_tokens WHERE workflow_id = ${id} ORDER BY taken_at`);
    // Those outside of the last window may be deleted.
    expect(starts.length).toBeGreaterThanOrEqual(2);
    const began = await Promise.all(
      runs.map(async ({ id: run }) => (await call('GET', `/api/runs/${run}`)).body),
    );
    const waited = began.map(({ waiting_ms }) => waiting_ms);
    expect(waited.slice(0, 2)).toEqual([0, 0]);
    expect(waited[5]).toBeGreaterThan(waited[3]);
  });

  test('counts exactly for each key, and ends with the limit', async () => {
    await logPlaces(engine.db);
    const id = await workflow({ rate: { limit: 1, per_seconds: 1, key: '{k}' } });
    const runs = [];
    for (let n = 0; n < 4; n += 1) runs.push((await trigger(id, { k: 'x' })).body);
    const other = (await trigger(id, { k: 'y' })).body;
    expect(other.queued).toBeNull();
    for (const run of runs) await engine.until(run.id, ['success']);
    const log = await placeLog(engine.db, id);
    const taken = log.filter(({ state }) => state === 'holding').map(({ at_ms }) => at_ms);
    expect(taken).toHaveLength(3);
    for (const [at, ms] of taken.entries()) {
      if (at === 0) continue;
      const after = ms - taken[at - 1]!;
      expect(after).toBeGreaterThanOrEqual(1_000);
      expect(after).toBeLessThan(1_000 + patiently(100));
    }
    const last = (await trigger(id, { k: 'x' })).body;
    const waits = (await trigger(id, { k: 'x' })).body;
    await call('PUT', `/api/workflows/${id}/limits`, { rate: null });
    for (const run of [last, waits]) await engine.until(run.id, ['success']);
  });

  test('holds together with the limit of runs in flight', async () => {
    const limits = { concurrency: { limit: 1 }, rate: { limit: 1, per_seconds: 1, key: '{k}' } };
    const id = await workflow(limits, gate);
    const first = (await trigger(id, { k: 'x' })).body;
    const second = (await trigger(id, { k: 'x' })).body;
    const third = (await trigger(id, { k: 'y' })).body;
    expect([first, second, third].map(({ queued }) => queued?.for)).toEqual([
      ...[undefined, 'concurrency', 'concurrency'],
    ]);
    await engine.until(first.id, ['paused']);
    await call('POST', `/api/runs/${first.id}/cancel`);
    const next = await Promise.any(
      [second, third].map(({ id: run }) => engine.until(run, ['paused'])),
    );
    await call('POST', `/api/runs/${next.id}/cancel`);
    const last = next.id === second.id ? third : second;
    await engine.until(last.id, ['paused']);
  });
});

test('the priority decides who starts first', async () => {
  const id = await workflow({ concurrency: { limit: 1 }, priority: 'level' }, gate);
  const holder = (await trigger(id, { level: 0 })).body.id;
  const given = [0, 5, 5, -1000, 1000, 100];
  const runs: string[] = [];
  for (const level of given) runs.push((await trigger(id, { level })).body.id);
  const { body } = await call('GET', `/api/runs?workflow_id=${id}&status=pending`);
  const positions = new Map<string, number>(
    body.runs.map((run: Run) => [run.id, run.queued?.position ?? 0]),
  );
  // 1000 counts as 100, so of these two the earlier one comes first.
  expect(runs.map((run) => positions.get(run))).toEqual([5, 3, 4, 6, 1, 2]);
  await call('POST', `/api/runs/${holder}/cancel`);
  await engine.until(runs[4]!, ['paused']);
  expect((await trigger(id, { level: 'high' })).body.detail).toBe(
    'The priority must be a number, and is of type string with this input',
  );
  const set = await call('PUT', `/api/workflows/${id}/limits`, { priority: 'level +' });
  expect([set.status, set.body.detail]).toEqual([
    400,
    expect.stringMatching(/^Invalid body: priority /),
  ]);
});
