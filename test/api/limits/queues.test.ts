import { describe, expect, test } from '@jest/globals';
import type { RunQueue } from '#client/index.ts';
import { useEngineApi } from '#test/api/engine-api.ts';
import { chain, eventually } from '#test/support/engine.ts';
import { logPlaces, mostInFlight, placeLog } from '#test/support/place-log.ts';

const { engine, call } = useEngineApi();

const gate = chain({ id: 'ok', kind: 'human_gate', prompt: 'Go on?' });
const workflow = async (limits: object, name = 'limited'): Promise<string> => {
  const { body } = await call('POST', '/api/workflows', { name, graph: gate });
  expect((await call('PUT', `/api/workflows/${body.id}/limits`, limits)).status).toBe(200);
  return body.id;
};
const trigger = async (id: string, input: object = {}): Promise<string> =>
  (await call('POST', `/api/workflows/${id}/runs`, input)).body.id;
const queuesOf = async (id: string): Promise<RunQueue[]> =>
  (await call('GET', `/api/queues?workflow_id=${id}`)).body;

test('the queues name who holds each slot, and who waits, in order', async () => {
  const id = await workflow({ concurrency: { limit: 1, key: '{k}' }, priority: 'level' }, 'Orders');
  const held = await trigger(id, { k: 'acme', level: 0 });
  const later = await trigger(id, { k: 'acme', level: 0 });
  const first = await trigger(id, { k: 'acme', level: 3 });
  const other = await trigger(id, { k: 'other', level: 0 });
  await engine.until(held, ['paused']);
  await engine.until(other, ['paused']);
  expect(await queuesOf(id)).toMatchObject([
    {
      ...{ workflow_id: id, workflow_name: 'Orders', for: 'concurrency', key: 'acme', limit: 1 },
      in_flight: [{ run_id: held, status: 'paused' }],
      waiting: [
        { run_id: first, position: 1, priority: 3, status: 'pending' },
        { run_id: later, position: 2, priority: 0 },
      ],
      waiting_count: 2,
    },
    { key: 'other', in_flight: [{ run_id: other }], waiting: [], waiting_count: 0 },
  ]);
  const all: RunQueue[] = (await call('GET', '/api/queues')).body;
  expect(all.map(({ key }) => key)).toEqual(['acme', 'other']);
  await call('POST', `/api/runs/${first}/cancel`);
  await call('POST', `/api/runs/${held}/cancel`);
  await engine.until(later, ['paused']);
  await eventually(async () => (await queuesOf(id))[0]?.in_flight[0]?.run_id === later);

  const slow = await workflow({ rate: { limit: 1, per_seconds: 3_600 } }, 'Reports');
  await trigger(slow);
  const waits = await trigger(slow);
  expect(await queuesOf(slow)).toMatchObject([
    { for: 'rate', key: '', limit: 1, in_flight: [], waiting: [{ run_id: waits, position: 1 }] },
  ]);
  await call('POST', `/api/runs/${waits}/cancel`);
});

describe('with cancel_running', () => {
  test('the newest runs of a key stay, and the others are cancelled', async () => {
    await logPlaces(engine.db);
    const id = await workflow({
      concurrency: { limit: 1, key: '{k}', on_limit: 'cancel_running' },
    });
    const old = await trigger(id, { k: 'a' });
    const apart = await trigger(id, { k: 'b' });
    await engine.until(old, ['paused']);
    const between = await trigger(id, { k: 'a' });
    const newest = await trigger(id, { k: 'a' });
    for (const run of [old, between]) {
      const ended = await engine.until(run, ['failed']);
      expect([ended.failure?.kind, ended.error]).toEqual([
        ...['cancelled', 'Cancelled by a newer run with its key'],
      ]);
    }
    await engine.until(newest, ['paused']);
    expect((await engine.run(apart)).status).not.toBe('failed');
    expect(mostInFlight(await placeLog(engine.db, id))).toBe(1);
  });
});
