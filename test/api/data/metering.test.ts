import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { chargeBatch, takeCredits } from '#shared/db/data/metering.ts';
import { sql } from '#shared/db/pool.ts';
import { newId } from '#shared/crypto/ids.ts';
import { type PlanName, plans } from '#shared/people/plans.ts';
import { startTestApi, type TestApi } from '#test/api/test-api.ts';
import { addDataKey } from './data-key.ts';
import { addWorkspace } from './records.ts';
import { startMeteredApp } from './metered-app.ts';
import { raceRounds, soakTest } from '#test/support/soak.ts';
import { expectRefusal } from '#test/api/refusal.ts';

let api: TestApi;
let processes: Awaited<ReturnType<typeof startMeteredApp>>[];
/** Credits per workspace, summed over the responses. */
const answered = new Map<string, number>();
beforeAll(async () => {
  api = await startTestApi();
  processes = [await startMeteredApp(api), await startMeteredApp(api), await startMeteredApp(api)];
  await run(sql.fragment`CREATE TABLE notes (note text)`);
});
// Checks the accounts after every test.
afterEach(async () => expectBalanced());
afterAll(async () => {
  for (const { stop } of processes) await stop();
  await api.stop();
});

const run = (statement: ReturnType<typeof sql.fragment>) => api.db.query(sql.unsafe`${statement}`);
const numberOf = (statement: ReturnType<typeof sql.fragment>): Promise<number> =>
  api.db.oneFirst(sql.type(z.object({ n: z.number() }))`${statement}`);
const thisMonth = sql.fragment`date_trunc('month', now() AT TIME ZONE 'UTC')::date`;

/** A workspace with this many credits left, and a key. */
async function makeWorkspace(
  left: number,
  { plan = 'free', ...input }: { plan?: PlanName } & Parameters<typeof addDataKey>[1] = {},
) {
  const place = await addWorkspace(api.db, plan);
  const id = place.workspaceId;
  const key = await addDataKey(place, input);
  const allowance = plans[plan].dataCreditsPerMonth;
  if (allowance !== null && left < allowance) await spend(id, key.id, allowance - left);
  return { id, key };
}

/** Records credits as already used. */
async function spend(workspaceId: string, keyId: string, credits: number): Promise<void> {
  await run(sql.fragment`
    INSERT INTO data_months (workspace_id, month, credits) VALUES (${workspaceId}, ${thisMonth}, ${credits})`);
  await run(sql.fragment`
    INSERT INTO data_key_months (key_id, month, workspace_id, credits)
    VALUES (${keyId}, ${thisMonth}, ${workspaceId}, ${credits})`);
  await run(sql.fragment`
    INSERT INTO data_charges (workspace_id, key_id, month, request_id, operation, credits, records)
    VALUES (${workspaceId}, ${keyId}, ${thisMonth}, 'before', 'before', ${credits}, 0)`);
  answered.set(workspaceId, credits);
}

async function pay(
  workspace: { id: string; key: { headers: Record<string, string> } },
  body: { credits: number; records?: number },
  { process = 0, path, note }: { process?: number; path?: string; note?: string } = {},
) {
  const headers = { ...workspace.key.headers, ...(note === undefined ? {} : { 'x-note': note }) };
  const answer = await processes[process % 3]!.pay(headers, body, path);
  const consumed = answer.status === 200 ? answer.body.meta.credits_consumed : 0;
  expect(answer.headers['x-credits-consumed']).toBe(String(consumed));
  answered.set(workspace.id, (answered.get(workspace.id) ?? 0) + Number(consumed));
  return answer;
}

/** The ledger, the accounts of workspaces and keys, and the responses must agree. */
async function expectBalanced(): Promise<void> {
  const sums = z.object({ id: z.string(), credits: z.number(), records: z.number() });
  const of = async (statement: ReturnType<typeof sql.fragment>) =>
    api.db.any(sql.type(sums)`${statement}`);
  expect(
    await of(sql.fragment`
      SELECT workspace_id || month AS id, sum(credits) AS credits, sum(records) AS records
      FROM data_charges GROUP BY 1 ORDER BY 1`),
  ).toEqual(
    await of(sql.fragment`
      SELECT workspace_id || month AS id, credits, records FROM data_months WHERE credits > 0 ORDER BY 1`),
  );
  expect(
    await of(sql.fragment`
      SELECT key_id || month AS id, sum(credits) AS credits, sum(records) AS records
      FROM data_charges GROUP BY 1 ORDER BY 1`),
  ).toEqual(
    await of(sql.fragment`
      SELECT key_id || month AS id, credits, records FROM data_key_months WHERE credits > 0 ORDER BY 1`),
  );
  const charged = await of(sql.fragment`
    SELECT workspace_id AS id, sum(credits) AS credits, 0 AS records FROM data_charges GROUP BY 1`);
  const asked = [...answered].filter(([, credits]) => credits > 0);
  expect(Object.fromEntries(charged.map(({ id, credits }) => [id, credits]))).toEqual(
    Object.fromEntries(asked),
  );
}

describe('credits', () => {
  test('are charged in one ledger row; a header has the remainder', async () => {
    const workspace = await makeWorkspace(1_000);
    const { body, headers } = await pay(workspace, { credits: 7, records: 3 });
    expect(body.meta.credits_consumed).toBe(7);
    expect(headers['x-credits-remaining']).toBe('993');
    const row = z.object({
      operation: z.string(),
      request_id: z.string(),
      credits: z.number(),
      records: z.number(),
    });
    const charged = await api.db.any(sql.type(row)`
      SELECT operation, request_id, credits, records FROM data_charges
      WHERE workspace_id = ${workspace.id} AND operation <> 'before'
    `);
    expect(charged).toEqual([
      { operation: 'pay', request_id: body.meta.request_id, credits: 7, records: 3 },
    ]);
  });

  test('are not needed or charged for a free response', async () => {
    const workspace = await makeWorkspace(0);
    const { status, body } = await pay(workspace, { credits: 0 });
    expect([status, body.meta.credits_consumed]).toEqual([200, 0]);
  });

  test('beyond the plan are refused with 402; a cheaper call still fits', async () => {
    const workspace = await makeWorkspace(5);
    const refused = await pay(workspace, { credits: 6 });
    expectRefusal(
      refused,
      402,
      'Monthly data-credit allowance exhausted (4995/5000 on the free plan)',
    );
    expect((await pay(workspace, { credits: 5 })).status).toBe(200);
    expect((await pay(workspace, { credits: 1 })).status).toBe(402);
    await run(sql.fragment`UPDATE workspaces SET plan = 'starter' WHERE id = ${workspace.id}`);
    expect((await pay(workspace, { credits: 1 })).status).toBe(200);
  });

  test('beyond the limit of a key are refused for it only', async () => {
    const workspace = await makeWorkspace(5_000, { monthly_credit_allowance: 10 });
    expect((await pay(workspace, { credits: 8 })).headers['x-credits-remaining']).toBe('2');
    const refused = await pay(workspace, { credits: 3 });
    expectRefusal(refused, 402, 'Monthly data-credit allowance exhausted (8/10 of this key)');
    const other = await addDataKey({ db: api.db, workspaceId: workspace.id });
    expect((await pay({ ...workspace, key: other }, { credits: 3 })).status).toBe(200);
  });

  test('without a limit are still counted', async () => {
    const workspace = await makeWorkspace(0, { plan: 'enterprise' });
    const { status, headers } = await pay(workspace, { credits: 1_000_000 });
    expect(status).toBe(200);
    expect(headers).not.toHaveProperty('x-credits-remaining');
  });

  test('count for the month in which the request was admitted', async () => {
    const workspace = await makeWorkspace(5_000);
    const month = '2026-01-01';
    const payer = { workspaceId: workspace.id, keyId: workspace.key.id, month };
    const charge = { requestId: 'req_x', operation: 'pay', credits: 5_000, records: 1 };
    // No request was admitted in that month.
    expect(await takeCredits(api.db, payer, chargeBatch([charge]))).toEqual([]);
    await run(sql.fragment`
      INSERT INTO data_months (workspace_id, month) VALUES (${workspace.id}, ${month}::date)`);
    await run(sql.fragment`
      INSERT INTO data_key_months (key_id, month, workspace_id)
      VALUES (${workspace.key.id}, ${month}::date, ${workspace.id})`);
    expect(
      (await takeCredits(api.db, payer, chargeBatch([charge]))).map(({ taken }) => taken),
    ).toEqual([true]);
    expect(
      (await takeCredits(api.db, payer, chargeBatch([charge]))).map(({ taken }) => taken),
    ).toEqual([false]);
    answered.set(workspace.id, 5_000);
    expect((await pay(workspace, { credits: 5_000 })).status).toBe(200);
  });
});

describe('concurrent requests', () => {
  soakTest('on three processes use exactly the remaining credits of the plan', 60_000, async () => {
    for (let round = 0; round < raceRounds(20); round += 1) {
      const credits = 1 + (round % 4);
      const left = 20 + 3 * round;
      const workspace = await makeWorkspace(left);
      const answers = await Promise.all(
        Array.from({ length: 50 }, (_, process) => pay(workspace, { credits }, { process })),
      );
      const fit = Math.min(50, Math.floor(left / credits));
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(fit);
      expect(answers.filter(({ status }) => status === 402)).toHaveLength(50 - fit);
    }
    await expectBalanced();
  });

  soakTest(
    'with several keys use the plan exactly and stay within the limit of each key',
    60_000,
    async () => {
      for (let round = 0; round < raceRounds(20); round += 1) {
        const workspace = await makeWorkspace(30);
        const keys = [
          workspace.key,
          await addDataKey(
            { db: api.db, workspaceId: workspace.id },
            { monthly_credit_allowance: 5 },
          ),
          await addDataKey(
            { db: api.db, workspaceId: workspace.id },
            { monthly_credit_allowance: 4 },
          ),
        ];
        const answers = await Promise.all(
          Array.from({ length: 60 }, async (_, i) => {
            const key = keys[i % 3]!;
            const { status } = await pay({ ...workspace, key }, { credits: 2 }, { process: i % 7 });
            return { key, status };
          }),
        );
        const paidBy = (key: unknown) =>
          answers.filter((answer) => answer.key === key && answer.status === 200).length;
        expect(paidBy(keys[1])).toBeLessThanOrEqual(2);
        expect(paidBy(keys[2])).toBeLessThanOrEqual(2);
        expect(answers.filter(({ status }) => status === 200)).toHaveLength(15);
        expect(answers.filter(({ status }) => status === 402)).toHaveLength(45);
      }
      await expectBalanced();
    },
  );

  test('in a batch are charged in order, skipping those that do not fit', async () => {
    for (let round = 0; round < raceRounds(20); round += 1) {
      const workspace = await makeWorkspace(10);
      // The first is in flight while the others form a batch.
      const costs = [1, 8, 5, 1, 9];
      const answers = await Promise.all(costs.map((credits) => pay(workspace, { credits })));
      expect(answers.map(({ status }) => status)).toEqual([200, 200, 402, 200, 402]);
    }
  });

  test('are charged in batches', async () => {
    const workspace = await makeWorkspace(5_000, { plan: 'enterprise' });
    const statements = async () =>
      numberOf(sql.fragment`SELECT count(DISTINCT xmin::text) AS n FROM data_charges
        WHERE workspace_id = ${workspace.id}`);
    await Promise.all(Array.from({ length: 200 }, () => pay(workspace, { credits: 1 })));
    expect(await statements()).toBeLessThan(50);
  });
});

describe('credits charged together with a write', () => {
  const notes = (note: string) =>
    numberOf(sql.fragment`SELECT count(*) AS n FROM notes WHERE note LIKE ${`% ${note}`}`);

  test('are charged if and only if the write succeeds', async () => {
    for (let round = 0; round < raceRounds(10); round += 1) {
      const workspace = await makeWorkspace(10);
      const note = newId('request');
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, process) =>
          pay(
            workspace,
            { credits: 3 },
            { process, path: process % 2 === 0 ? 'pay-and-note' : 'pay', note },
          ),
        ),
      );
      expect(answers.filter(({ status }) => status === 200)).toHaveLength(3);
      const noted = answers.filter(({ status, body }) => status === 200 && body.data === 'noted');
      expect(await notes(note)).toBe(noted.length);
    }
  });

  test('can be zero, and the write still happens', async () => {
    const workspace = await makeWorkspace(0);
    const note = newId('request');
    const { status } = await pay(workspace, { credits: 0 }, { path: 'pay-and-note', note });
    expect([status, await notes(note)]).toEqual([200, 1]);
  });
});

describe('a usage threshold', () => {
  const eventRow = z.object({ data: z.record(z.string(), z.unknown()) });
  const told = async (workspaceId: string) =>
    (
      await api.db.any(sql.type(eventRow)`
        SELECT data FROM outbound_events WHERE workspace_id = ${workspaceId} AND type = 'usage.threshold_reached'
        ORDER BY data->>'meter', (data->>'percent')::int
      `)
    ).map(({ data }) => data);
  const listen = (workspaceId: string) =>
    run(sql.fragment`
      INSERT INTO data_endpoints (id, workspace_id, is_demo, url, events, secret)
      VALUES (${newId('endpoint')}, ${workspaceId}, false, 'https://x.example', '{usage.threshold_reached}', 'x')`);
  const month = new Date().toISOString().slice(0, 7);

  test('queues one event each at 80 and 100 percent', async () => {
    const workspace = await makeWorkspace(1_002);
    await listen(workspace.id);
    await pay(workspace, { credits: 1 });
    expect(await told(workspace.id)).toEqual([]);
    for (let i = 0; i < 3; i += 1) await pay(workspace, { credits: 1 }, { process: i });
    expect(await told(workspace.id)).toEqual([
      { meter: 'credits', percent: 80, used: 4_000, limit: 5_000, month },
    ]);
    await pay(workspace, { credits: 998 });
    for (let i = 0; i < 3; i += 1) await pay(workspace, { credits: 1 }, { process: i });
    expect((await told(workspace.id)).map(({ percent }) => percent)).toEqual([80, 100]);
  });

  soakTest('queues both events once when one of many concurrent charges passes both', async () => {
    for (let round = 0; round < raceRounds(10); round += 1) {
      const workspace = await makeWorkspace(1_001 + 30);
      await listen(workspace.id);
      await pay(workspace, { credits: 30 });
      await Promise.all(
        Array.from({ length: 30 }, (_, process) => pay(workspace, { credits: 1_001 }, { process })),
      );
      expect((await told(workspace.id)).map(({ percent }) => percent)).toEqual([80, 100]);
    }
  });

  test('also applies to requests', async () => {
    const workspace = await makeWorkspace(5_000);
    await listen(workspace.id);
    await pay(workspace, { credits: 0 });
    await run(sql.fragment`
      UPDATE data_months SET requests = 3_990 WHERE workspace_id = ${workspace.id}`);
    await Promise.all(
      Array.from({ length: 30 }, (_, process) => pay(workspace, { credits: 0 }, { process })),
    );
    expect(await told(workspace.id)).toEqual([
      { meter: 'requests', percent: 80, used: expect.any(Number), limit: 5_000, month },
    ]);
  });

  test('uses the limit of the upgraded plan', async () => {
    const workspace = await makeWorkspace(0);
    await listen(workspace.id);
    await run(sql.fragment`UPDATE workspaces SET plan = 'starter' WHERE id = ${workspace.id}`);
    await pay(workspace, { credits: 74_999 });
    expect(await told(workspace.id)).toEqual([]);
    await pay(workspace, { credits: 1 });
    expect(await told(workspace.id)).toMatchObject([{ percent: 80, limit: 100_000 }]);
  });
});

test('an invalid body is 422 and costs no credits', async () => {
  const workspace = await makeWorkspace(10);
  const [process] = processes;
  for (const body of [{}, { credits: 'x' }, 'text']) {
    const answer = await process!.pay(workspace.key.headers, body);
    expectRefusal(answer, 422, expect.stringMatching(/^Invalid body/));
  }
});
