import { createHmac } from 'node:crypto';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import type { App } from '#api/deps.ts';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { dropPastSignatures } from '#shared/db/inbound/webhooks.ts';
import { oneStep, startTestApi, type TestApi } from '#test/api/test-api.ts';
import { raceRounds } from '#test/support/soak.ts';

// An attacker who sees a signed event can send it again while its timestamp is within the tolerance, and can change the
// unsigned part: the header that names the event. Still, one signature is good for only one run.

let api: TestApi;
/** Another process of the same service. */
let other: { app: App; call: TestApi['call'] };
let workflowId: string;
let path: string;
let secret: string;

beforeAll(async () => {
  api = await startTestApi();
  other = await api.another();
});
afterAll(async () => {
  await other.app.close();
  await api.stop();
});
beforeEach(async () => {
  await run(sql.fragment`UPDATE workspaces SET plan = 'enterprise'`);
  workflowId = (await api.call('POST', '/api/workflows', { name: 'x', graph: oneStep })).body.id;
  const { url } = (await api.call('POST', `/api/workflows/${workflowId}/webhook`)).body;
  path = new URL(url).pathname;
  secret = path.slice(-32);
  await configure({ require_signature: true });
});

const run = (statement: ReturnType<typeof sql.fragment>) =>
  api.db.query(sql.type(z.object({}))`${statement}`);
const runs = () =>
  api.db.oneFirst(sql.type(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM runs WHERE workflow_id = ${workflowId}`);
const configure = async (settings: object) => {
  const answer = await api.call('PUT', `/api/workflows/${workflowId}/webhook/config`, settings);
  expect(answer.status).toBe(200);
};

interface Signed {
  body: object;
  headers: Record<string, string>;
}

const now = () => Math.floor(Date.now() / 1_000);
const sign = (body: object, timestamp = now()): Signed => {
  const text = `${timestamp}.${JSON.stringify(body)}`;
  const hmac = createHmac('sha256', secret).update(text).digest('hex');
  return {
    body,
    headers: {
      'x-service-timestamp': String(timestamp),
      'x-service-signature': `sha256=${hmac}`,
    },
  };
};
const send = (signed: Signed, eventId?: string, by: TestApi['call'] = api.call) =>
  by('POST', path, signed.body, {
    ...signed.headers,
    ...(eventId === undefined ? {} : { 'x-service-event-id': eventId }),
  });
const started = async (signed: Signed, eventId?: string): Promise<string> => {
  const { status, body } = await send(signed, eventId);
  expect([status, body.status]).toEqual([201, 'pending']);
  return body.run_id;
};
const expectDuplicate = async (signed: Signed, runId: string, eventId?: string) => {
  const { status, body } = await send(signed, eventId);
  const duplicate = { run_id: runId, status: 'duplicate', deduplicated: true };
  expect([status, body]).toEqual([201, duplicate]);
};

describe('a replayed signed event', () => {
  test.each([0, 3_600])(
    'is a duplicate for any event ID, with a window of %i s',
    async (dedup_window_seconds) => {
      await configure({ dedup_window_seconds });
      const signed = sign({ ticket: 'x' });
      const first = await started(signed, 'evt_1');
      for (const eventId of ['evt_1', 'evt_2', undefined, '']) {
        await expectDuplicate(signed, first, eventId);
      }
      expect(await runs()).toBe(1);
    },
  );

  test('is a duplicate also if it was first sent as a duplicate', async () => {
    await configure({ dedup_window_seconds: 3_600 });
    const first = await started(sign({ n: 1 }), 'evt_1');
    const again = sign({ n: 2 });
    await expectDuplicate(again, first, 'evt_1');
    await expectDuplicate(again, first, 'evt_other');
    const byBody = sign({ event_id: 'evt_1', n: 3 });
    await expectDuplicate(byBody, first);
    await expectDuplicate(byBody, first, 'evt_another');
    expect(await runs()).toBe(1);
  });

  test('is a duplicate after its run is deleted, and in another process', async () => {
    const signed = sign({ n: 1 });
    const first = await started(signed);
    await run(sql.fragment`DELETE FROM runs WHERE id = ${first}`);
    const { body } = await send(signed, 'evt_2', other.call);
    expect(body).toEqual({ run_id: first, status: 'duplicate', deduplicated: true });
  });

  test('is checked for its signature, then as a duplicate, then for the graph', async () => {
    const signed = sign({ n: 1 });
    const first = await started(signed);
    await api.call('PUT', `/api/workflows/${workflowId}`, { graph: { nodes: [], edges: [] } });
    await expectDuplicate(signed, first);
    const forged = { ...signed, body: { n: 2 } };
    expect((await send(forged)).status).toBe(401);
    expect((await send(sign({ n: 3 }))).status).toBe(400);
  });

  test('is accepted if it was refused before', async () => {
    const signed = sign({ n: 1 });
    await api.call('PUT', `/api/workflows/${workflowId}`, { graph: { nodes: [], edges: [] } });
    expect((await send(signed)).status).toBe(400);
    await api.call('PUT', `/api/workflows/${workflowId}`, { graph: oneStep });
    await started(signed);
  });

  test('is a new event with a new signature, or if none is required', async () => {
    const at = now();
    const first = await started(sign({ n: 1 }, at));
    expect(await started(sign({ n: 1 }, at - 1))).not.toBe(first);
    await configure({ require_signature: false });
    const signed = sign({ n: 1 }, at);
    expect(await started(signed)).not.toBe(first);
    expect(await started(signed)).not.toBe(first);
  });
});

describe('concurrent copies', () => {
  const COPIES = 24;
  const sendCopies = (signed: (index: number) => Signed, idOf: (index: number) => string) =>
    Promise.all(
      Array.from({ length: COPIES }, (_, index) =>
        send(signed(index), idOf(index), index % 2 === 0 ? api.call : other.call),
      ),
    );

  test.each([0, 3_600])(
    'with different event IDs start one run, with a window of %i s',
    async (dedup_window_seconds) => {
      await configure({ dedup_window_seconds });
      for (let round = 1; round <= raceRounds(15); round += 1) {
        const signed = sign({ round });
        const answers = await sendCopies(
          () => signed,
          (index) => `evt_${round}_${index}`,
        );
        expect([...new Set(answers.map(({ status }) => status))]).toEqual([201]);
        expect(answers.filter(({ body }) => body.status === 'pending')).toHaveLength(1);
        expect(new Set(answers.map(({ body }) => body.run_id)).size).toBe(1);
        expect(await runs()).toBe(round);
      }
    },
    60_000,
  );

  test('of one event, signed separately, start one run and use up all signatures', async () => {
    await configure({ dedup_window_seconds: 3_600 });
    for (let round = 1; round <= raceRounds(15); round += 1) {
      const copies = Array.from({ length: COPIES }, (_, copy) => sign({ round, copy }));
      const answers = await sendCopies(
        (index) => copies[index]!,
        () => `evt_${round}`,
      );
      expect(answers.filter(({ body }) => body.status === 'pending')).toHaveLength(1);
      const [{ body }] = answers as [(typeof answers)[0]];
      for (const signed of copies) await expectDuplicate(signed, body.run_id, 'another');
      expect(await runs()).toBe(round);
    }
  }, 60_000);
});

test('signatures are deleted only when too old to be accepted again', async () => {
  const keep = sign({ n: 1 });
  await started(keep);
  await started(sign({ n: 2 }));
  await started(sign({ n: 3 }));
  const kept = () =>
    api.db.oneFirst(sql.type(z.object({ n: z.number() }))`
      SELECT count(*) AS n FROM webhook_signatures WHERE workflow_id = ${workflowId}`);
  const age = (seconds: number) =>
    run(sql.fragment`
      UPDATE webhook_signatures SET signed_at = now() - ${seconds}::int * interval '1 second'
      WHERE workflow_id = ${workflowId} AND run_id <> (
        SELECT id FROM runs WHERE workflow_id = ${workflowId} ORDER BY created_at, id LIMIT 1)`);
  await age(300);
  await dropPastSignatures(api.db, 1_000);
  expect(await kept()).toBe(3);
  await age(901);
  expect(await dropPastSignatures(api.db, 1)).toBe(1);
  while ((await dropPastSignatures(api.db, 1)) > 0);
  expect(await kept()).toBe(1);
  const [row] = await api.db.any(sql.type(z.object({ hex: z.string() }))`
    SELECT encode(signature, 'hex') AS hex FROM webhook_signatures WHERE workflow_id = ${workflowId}`);
  expect(keep.headers['x-service-signature']).not.toContain(row?.hex);
});
