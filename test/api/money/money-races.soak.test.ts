import { beforeEach, describe, expect, test } from '@jest/globals';
import { request } from 'undici';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { echo } from '#test/support/engine.ts';
import { expectLedgerToAgree } from '#test/support/money.ts';
import { type Answer, useApiProcesses } from '#test/api/api-processes.ts';

/**
 * How often each number of concurrent triggers is sent. A thousand triggers have as many chances of a race as all
 * repetitions of a hundred. `MONEY_RACE_REPETITIONS=20` repeats all as often.
 */
const repetitions = (n: number): number =>
  Number(process.env['MONEY_RACE_REPETITIONS'] ?? (n < 1_000 ? 20 : 2));
const processes = useApiProcesses();
const { call, turn } = processes;
let workflowId: string;

beforeEach(async () => {
  await plan('enterprise');
});

/** Sends this many triggers at once, distributed over the processes. */
const triggers = (n: number, of: (index: number) => string = () => workflowId): Promise<Answer[]> =>
  Promise.all(
    Array.from({ length: n }, (_, index) =>
      call(turn(index), 'POST', `/api/workflows/${of(index)}/runs`, {}),
    ),
  );

const define = () => processes.engine.define({ nodes: [echo('a')], edges: [] });
const newBudget = async (input: object): Promise<string> => {
  const answer = await call(processes.apis[0]!, 'POST', '/api/budgets', {
    name: 'B',
    limit_usd: 1,
    ...input,
  });
  expect(answer.status).toBe(201);
  return answer.body.id!;
};
const run = (statement: ReturnType<typeof sql.fragment>) =>
  processes.engine.db.query(sql.unsafe`${statement}`);
const plan = (name: string) => run(sql.fragment`UPDATE workspaces SET plan = ${name}`);
const number = (statement: ReturnType<typeof sql.fragment>) =>
  processes.engine.db.oneFirst(sql.type(z.object({ n: z.number() }))`SELECT (${statement}) AS n`);

/** The rows that triggers of one workflow have left. */
const traces = async (id = workflowId) =>
  processes.engine.db.one(sql.type(
    z.object({ runs: z.number(), audit: z.number(), holds: z.number(), promises: z.number() }),
  )`
    SELECT (SELECT count(*) FROM runs WHERE workflow_id = ${id}) AS runs,
           (SELECT count(*) FROM audit_log WHERE target_id = ${id} AND action = 'run') AS audit,
           (SELECT count(*) FROM budget_holds h JOIN runs r ON r.id = h.run_id WHERE r.workflow_id = ${id}) AS holds,
           (SELECT count(*) FROM budget_holds h WHERE h.run_id <> '' AND NOT EXISTS (
              SELECT FROM runs WHERE id = h.run_id)) AS promises
  `);

const expectOneOf = (answers: Answer[], detail: RegExp): void => {
  const admitted = answers.filter((answer) => answer.status === 201);
  const refused = answers.filter((answer) => answer.status === 402);
  expect([admitted.length, refused.length]).toEqual([1, answers.length - 1]);
  for (const answer of refused) expect(answer.body.detail).toMatch(detail);
};

describe('with room for one run', () => {
  test.each([2, 10, 100, 1_000])(
    'a budget admits exactly one of %i triggers, and the others leave no trace',
    async (n) => {
      for (let round = 0; round < repetitions(n); round += 1) {
        workflowId = await define();
        await newBudget({
          scope: 'workflow',
          workflow_id: workflowId,
          limit_usd: 1,
          reservation_estimate_usd: 0.75,
        });
        const before = await number(sql.fragment`SELECT coalesce(sum(runs), 0) FROM run_counters`);
        const answers = await triggers(n);
        expectOneOf(
          answers,
          /^Budget 'B' exhausted: \$0\.75 of \$1\.00 committed; this run needs an estimate of \$0\.75$/,
        );
        expect(await traces()).toEqual({ runs: 1, audit: 1, holds: 1, promises: 0 });
        const after = await number(sql.fragment`SELECT sum(runs) FROM run_counters`);
        expect(after - before).toBe(1);
      }
      await expectLedgerToAgree(processes.engine.db);
    },
    240_000,
  );

  test.each([2, 10, 100, 1_000])(
    'the monthly quota admits exactly one of %i triggers, and the others leave no trace',
    async (n) => {
      workflowId = await define();
      await plan('free');
      for (let round = 0; round < repetitions(n); round += 1) {
        await run(sql.fragment`DELETE FROM run_counters`);
        await run(sql.fragment`
          INSERT INTO run_counters (workspace_id, month, shard, runs)
          SELECT id, date_trunc('month', now() AT TIME ZONE 'UTC')::date, 0, 999 FROM workspaces
        `);
        const answers = await triggers(n);
        expectOneOf(
          answers,
          /^Monthly run limit reached \(1000\/1000 on the free plan\)\. Upgrade the plan to run more\.$/,
        );
        const count = round + 1;
        expect(await traces()).toEqual({ runs: count, audit: count, holds: 0, promises: 0 });
        expect(await number(sql.fragment`SELECT sum(runs) FROM run_counters`)).toBe(1_000);
      }
    },
    240_000,
  );
});

describe('the monthly quota', () => {
  test('counts the first hundred concurrent triggers of a month', async () => {
    workflowId = await define();
    await plan('starter');
    for (let round = 0; round < 5; round += 1) {
      await run(sql.fragment`DELETE FROM run_counters`);
      const answers = await triggers(100);
      expect(answers.filter((answer) => answer.status === 201)).toHaveLength(100);
      expect(await number(sql.fragment`SELECT sum(runs) FROM run_counters`)).toBe(100);
    }
  }, 60_000);

  test('counts runs made on an unlimited plan after a change to a limited one', async () => {
    workflowId = await define();
    await run(sql.fragment`DELETE FROM run_counters`);
    await run(sql.fragment`
      INSERT INTO run_counters (workspace_id, month, shard, runs)
      SELECT id, date_trunc('month', now() AT TIME ZONE 'UTC')::date, 0, 980 FROM workspaces
    `);
    expect((await triggers(15)).filter((answer) => answer.status === 201)).toHaveLength(15);
    await plan('free');
    const answers = await triggers(20);
    expect(answers.filter((answer) => answer.status === 201)).toHaveLength(5);
    await run(sql.fragment`DELETE FROM run_counters WHERE shard = 0`);
    await run(sql.fragment`UPDATE run_counters SET runs = 1000`);
    expect((await triggers(3)).map((answer) => answer.status)).toEqual([402, 402, 402]);
  }, 60_000);

  test('is checked before budgets, and both before the graph', async () => {
    workflowId = await processes.engine.define({ nodes: [], edges: [] });
    const path = `/api/workflows/${workflowId}/runs`;
    const detail = async () => (await call(processes.apis[1]!, 'POST', path, {})).body.detail;
    expect(await detail()).toMatch(/^Workflow graph invalid: /);
    await newBudget({
      scope: 'workflow',
      workflow_id: workflowId,
      limit_usd: 1,
      reservation_estimate_usd: 2,
    });
    expect(await detail()).toBe(
      "Budget 'B' exhausted: $0.00 of $1.00 committed; this run needs an estimate of $2.00",
    );
    await plan('free');
    await run(sql.fragment`UPDATE run_counters SET runs = 1000`);
    expect(await detail()).toMatch(/^Monthly run limit reached /);
    expect(await traces()).toEqual({ runs: 0, audit: 0, holds: 0, promises: 0 });
  });

  test('does not block an idempotent replay', async () => {
    workflowId = await define();
    await plan('free');
    await run(sql.fragment`DELETE FROM run_counters`);
    const trigger = async () =>
      request(`${processes.apis[2]!.url}/api/workflows/${workflowId}/runs`, {
        method: 'POST',
        headers: { 'idempotency-key': 'once' },
      });
    const first = await trigger();
    const { id } = (await first.body.json()) as { id: string };
    await run(sql.fragment`UPDATE run_counters SET runs = 1000`);
    const again = await trigger();
    expect([again.statusCode, ((await again.body.json()) as { id: string }).id]).toEqual([200, id]);
  });
});

test('concurrent reservations of shared budgets neither deadlock nor exceed them', async () => {
  const [one, two] = [await define(), await define()];
  const shared = await newBudget({ name: 'All', limit_usd: 40, reservation_estimate_usd: 1 });
  for (const id of [one, two]) {
    await newBudget({
      scope: 'workflow',
      workflow_id: id,
      limit_usd: 25,
      reservation_estimate_usd: 1,
    });
  }
  const answers = await triggers(300, (index) => (index % 2 === 0 ? one : two));
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([201, 402]));
  const admitted = answers.filter((answer) => answer.status === 201);
  expect(admitted).toHaveLength(40);
  await expectLedgerToAgree(processes.engine.db);
  await request(`${processes.apis[0]!.url}/api/budgets/${shared}`, { method: 'DELETE' });
}, 60_000);
