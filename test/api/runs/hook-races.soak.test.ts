import { beforeEach, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { echo, eventually } from '#test/support/engine.ts';
import { expectLedgerToAgree } from '#test/support/money.ts';
import { type Answer, startOne, useApiProcesses } from '#test/api/api-processes.ts';

const COPIES = 100;
const ROUNDS = 20;

const processes = useApiProcesses();
const { call, turn } = processes;
let workflowId: string;
let path: string;

beforeEach(async () => {
  await run(sql.fragment`UPDATE workspaces SET plan = 'enterprise'`);
  workflowId = await processes.engine.define({ nodes: [echo('a')], edges: [] });
  await call(processes.apis[0]!, 'PUT', `/api/workflows/${workflowId}/webhook/config`, {
    dedup_window_seconds: 3_600,
  });
  path = await enable();
});

const enable = async (): Promise<string> => {
  const { body } = await call(
    processes.apis[0]!,
    'POST',
    `/api/workflows/${workflowId}/webhook`,
    {},
  );
  return new URL(body.url!).pathname;
};
/** Sends this many events at once, distributed over the processes. */
const send = (n: number, idOf: (index: number) => string): Promise<Answer[]> =>
  Promise.all(
    Array.from({ length: n }, (_, index) =>
      call(turn(index), 'POST', path, { event_id: idOf(index) }),
    ),
  );
const run = (statement: ReturnType<typeof sql.fragment>) =>
  processes.engine.db.query(sql.unsafe`${statement}`);
const traces = () =>
  processes.engine.db.one(sql.type(
    z.object({ runs: z.number(), audit: z.number(), events: z.number(), logged: z.number() }),
  )`
    SELECT (SELECT count(*) FROM runs WHERE workflow_id = ${workflowId}) AS runs,
           (SELECT count(*) FROM audit_log WHERE target_id = ${workflowId} AND action = 'webhook_run') AS audit,
           (SELECT count(*) FROM webhook_events WHERE workflow_id = ${workflowId}) AS events,
           (SELECT count(DISTINCT e.run_id) FROM inbound_events e JOIN runs r ON r.id = e.run_id AND r.inbound_event_id = e.id
            WHERE e.workflow_id = ${workflowId} AND e.outcome = 'run') AS logged
  `);

const loggedOutcomes = () =>
  processes.engine.db.any(sql.type(
    z.object({ outcome: z.string(), run_id: z.string(), times: z.number() }),
  )`
    SELECT outcome, run_id, times FROM inbound_events WHERE workflow_id = ${workflowId} ORDER BY outcome`);

const withStatus = (answers: Answer[], status: string) =>
  answers.filter(({ body }) => body.status === status);
/** Exactly one event has started the run, and all responses name it; returns its id. */
const expectOneRun = (answers: Answer[]): string => {
  expect([...new Set(answers.map((answer) => answer.status))]).toEqual([201]);
  const started = withStatus(answers, 'pending');
  expect([started.length, withStatus(answers, 'duplicate').length]).toEqual([
    1,
    answers.length - 1,
  ]);
  expect([...new Set(answers.map(({ body }) => body.run_id))]).toHaveLength(1);
  return started[0]!.body.run_id!;
};

describe('concurrent copies of one event', () => {
  test('start one run, and all responses name it', async () => {
    for (let round = 1; round <= ROUNDS; round += 1) {
      const id = expectOneRun(await send(COPIES, () => `evt_${round}`));
      expect(await traces()).toEqual({ runs: round, audit: round, events: round, logged: round });
      const again = await send(3, () => `evt_${round}`);
      expect(again.map(({ body }) => [body.status, body.run_id])).toEqual(
        Array.from({ length: 3 }, () => ['duplicate', id]),
      );
    }
  }, 120_000);

  test('are in the log, each once', async () => {
    for (let round = 1; round <= 4; round += 1) {
      workflowId = await processes.engine.define({ nodes: [echo('a')], edges: [] });
      path = await enable();
      await call(processes.apis[0]!, 'PUT', `/api/workflows/${workflowId}/webhook/config`, {
        dedup_window_seconds: 3_600,
      });
      const id = expectOneRun(await send(50, () => `evt_${round}`));
      await eventually(async () => (await loggedOutcomes()).length >= 50);
      expect(await loggedOutcomes()).toEqual([
        ...Array.from({ length: 49 }, () => ({ outcome: 'duplicate', run_id: id, times: 1 })),
        { outcome: 'run', run_id: id, times: 1 },
      ]);
    }
  }, 60_000);

  test('start one more run after each window', async () => {
    let before = expectOneRun(await send(COPIES, () => 'evt'));
    for (let round = 2; round <= ROUNDS; round += 1) {
      await run(sql.fragment`
        UPDATE webhook_events SET received_at = now() - interval '1 hour 1 second' WHERE workflow_id = ${workflowId}
      `);
      const id = expectOneRun(await send(COPIES, () => 'evt'));
      expect(id).not.toBe(before);
      before = id;
      expect(await traces()).toEqual({ runs: round, audit: round, events: 1, logged: round });
    }
  }, 120_000);

  test('do not affect other events', async () => {
    const answers = await send(300, (index) => `evt_${index % 60}`);
    for (let event = 0; event < 60; event += 1) {
      expectOneRun(answers.filter((_, index) => index % 60 === event));
    }
    expect(await traces()).toEqual({ runs: 60, audit: 60, events: 60, logged: 60 });
  }, 60_000);
});

describe('with room for one run', () => {
  test('one event starts it, its copies are duplicates, and others leave no trace', async () => {
    for (let round = 1; round <= ROUNDS; round += 1) {
      workflowId = await processes.engine.define({ nodes: [echo('a')], edges: [] });
      path = await enable();
      await call(processes.apis[0]!, 'PUT', `/api/workflows/${workflowId}/webhook/config`, {
        dedup_window_seconds: 60,
      });
      await call(processes.apis[0]!, 'POST', '/api/budgets', {
        name: 'B',
        scope: 'workflow',
        workflow_id: workflowId,
        limit_usd: 1,
        reservation_estimate_usd: 0.75,
      });
      const answers = await send(60, (index) => `evt_${index % 2}`);
      const [even, odd] = [0, 1].map((rest) => answers.filter((_, index) => index % 2 === rest));
      const [winner, loser] = withStatus(even!, 'pending').length === 1 ? [even, odd] : [odd, even];
      expectOneRun(winner!);
      expect([...new Set(loser!.map((answer) => answer.status))]).toEqual([402]);
      expect(await traces()).toEqual({ runs: 1, audit: 1, events: 1, logged: 1 });
    }
    await expectLedgerToAgree(processes.engine.db);
  }, 120_000);
});

test('copies sent before and after the crash of a process start one run', async () => {
  for (let round = 1; round <= 4; round += 1) {
    const first = Promise.allSettled(
      Array.from({ length: 60 }, (_, index) =>
        call(turn(index), 'POST', path, { event_id: `evt_${round}` }),
      ),
    );
    await new Promise((resolve) => setTimeout(resolve, round * 10));
    await processes.apis[2]!.kill();
    const settled = await first;
    const answers = settled.flatMap((each) => (each.status === 'fulfilled' ? [each.value] : []));
    processes.apis[2] = await startOne(processes.engine);
    const later = await send(30, () => `evt_${round}`);
    // A request that was cut off may have started the run without getting the response.
    const all = [...answers, ...later];
    expect([...new Set(all.map(({ body }) => body.run_id))]).toHaveLength(1);
    expect(withStatus(all, 'pending').length).toBeLessThanOrEqual(1);
    expect(withStatus(later, 'duplicate').length).toBeGreaterThanOrEqual(29);
    expect(await traces()).toEqual({ runs: round, audit: round, events: round, logged: round });
  }
}, 120_000);

test('every process refuses the old URL once a rotation has returned the new one', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const old = path;
    let rotated = false;
    const sent: Promise<void>[] = [];
    for (let index = 0; index < 30; index += 1) {
      const after = rotated;
      const answer = call(turn(index), 'POST', old, {
        event_id: `${round}.${index}`,
      });
      sent.push(answer.then(({ status }) => expect(after ? [404] : [201, 404]).toContain(status)));
      if (index === 10) path = await enable().finally(() => (rotated = true));
    }
    await Promise.all(sent);
    const fresh = await Promise.all(processes.apis.map((api) => call(api, 'POST', path, {})));
    expect(fresh.map(({ status }) => status)).toEqual([201, 201, 201]);
  }
}, 120_000);
