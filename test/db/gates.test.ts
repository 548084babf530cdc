import { beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import type { GateSettings } from '#shared/graph/gates/gate-settings.ts';
import { checkGate, runsDueWithin } from '#shared/db/gates/clock.ts';
import { decideGate } from '#shared/db/gates/decisions.ts';
import { pauseAtGates } from '#shared/db/gates/openings.ts';
import { supersede } from '#shared/db/runs/restart.ts';
import { sql } from '#shared/db/pool.ts';
import { resumeRun } from '#shared/db/runs/resumes.ts';
import { abandonRun, cancelRun, reportFailure } from '#shared/db/runs/ends.ts';
import { listApprovals } from '#shared/db/runs/runs.ts';
import { settleRun } from '#shared/db/runs/settlements.ts';
import { rejectionError } from '#shared/graph/gates/rejection.ts';
import { echo, useEngine } from '#test/support/engine.ts';
import { queueForRun } from '#test/support/held-run.ts';
import { raceRounds } from '#test/support/soak.ts';

const engine = useEngine({ worker: false });
let workflowId: string;
beforeAll(async () => {
  workflowId = await engine.define({ nodes: [echo('a')], edges: [] });
});

const opening = (stepKey: string, round = 1) => ({
  step_key: stepKey,
  round,
  node_id: stepKey,
  label: stepKey,
  iteration: [],
  prompt: '?',
  fails_on_reject: true,
});

const ask = (
  runId: string,
  gates: (ReturnType<typeof opening> & { settings?: GateSettings })[],
  execution = 'e1',
) =>
  pauseAtGates(engine.db, {
    run_id: runId,
    control: [],
    observed: [],
    gates,
    execution,
    alerts: false,
    publicUrl: 'https://ops.example.com',
  });

const waitingAt = async (...stepKeys: string[]): Promise<string> => {
  const runId = await engine.trigger(workflowId);
  await ask(
    runId,
    stepKeys.map((stepKey) => opening(stepKey)),
  );
  return runId;
};

const decide = async (runId: string, nodeId?: string, approved = true) => {
  const decided = await decideGate(engine.db, { actor: engine.actor, runId, approved, nodeId });
  if (decided.outcome !== 'decided') throw new Error(decided.outcome);
  return decided;
};

const outcomes = (results: PromiseSettledResult<unknown>[]): string[] =>
  results
    .map((result) => (result.status === 'fulfilled' ? 'decided' : String(result.reason.message)))
    .sort();

const audits = (runId: string) =>
  engine.db.manyFirst(sql.type(z.object({ node: z.string() }))`
    SELECT details ->> 'node_id' AS node FROM audit_log
    WHERE target_id = ${runId} AND action IN ('approve', 'reject') ORDER BY 1`);

describe('concurrent decisions on one run', () => {
  test('decide a gate once; the refusals name the decider', async () => {
    const runId = await waitingAt('g1', 'g2');
    const results = await queueForRun(
      engine.db,
      runId,
      [1, 2, 3, 4].map(() => () => decide(runId, 'g1')),
    );
    const taken = "Gate 'g1' has already been approved by Owner";
    expect(outcomes(results)).toEqual([taken, taken, taken, 'decided']);
    expect(await audits(runId)).toEqual(['g1']);
    expect((await engine.run(runId)).pending_gates).toMatchObject([{ node_id: 'g2' }]);
    await decide(runId, 'g2');
    expect(await audits(runId)).toEqual(['g1', 'g2']);
  });

  test('decide one gate each, oldest first, if they name none', async () => {
    const runId = await waitingAt('g1', 'g2', 'g3');
    const results = await queueForRun(
      engine.db,
      runId,
      [1, 2, 3, 4].map(() => () => decide(runId)),
    );
    expect(outcomes(results)).toEqual([
      expect.stringMatching(/^Gate 'g[123]' has already been approved by Owner$/),
      ...['decided', 'decided', 'decided'],
    ]);
    expect(await audits(runId)).toEqual(['g1', 'g2', 'g3']);
    expect((await engine.run(runId)).pending_gates).toEqual([]);
  });

  test('find a gate that opens while they wait', async () => {
    const runId = await waitingAt('g1');
    // The row lock is granted in the order of the requests.
    const results = await queueForRun<unknown>(engine.db, runId, [
      async () => ask(runId, [opening('g1'), opening('g2')]),
      async () => {
        await new Promise((resolve) => setTimeout(resolve, 200));
        return decide(runId, 'g2');
      },
    ]);
    expect(outcomes(results)).toEqual(['decided', 'decided']);
    expect(await audits(runId)).toEqual(['g2']);
  });
});

describe('an open gate of a running run', () => {
  test('is listed and can be decided; only the status of the run changes its clocks', async () => {
    const runId = await waitingAt('g1', 'g2');
    await engine.db.query(sql.unsafe`
      UPDATE runs SET phase_since = phase_since - interval '1 hour' WHERE id = ${runId}`);
    await decide(runId, 'g1');
    const working = await engine.run(runId);
    expect(working).toMatchObject({
      status: 'running',
      pending_gate: { node_id: 'g2' },
      pending_gates: [{ node_id: 'g2' }],
    });
    const hour = 3_600_000;
    expect(working.waiting_ms).toBeGreaterThanOrEqual(hour);
    await engine.db.query(sql.unsafe`
      UPDATE runs SET phase_since = phase_since - interval '1 hour' WHERE id = ${runId}`);
    await decide(runId, 'g2');
    const both = await engine.run(runId);
    expect(both).toMatchObject({ status: 'running', pending_gates: [] });
    expect(both.waiting_ms).toBe(working.waiting_ms);
    expect(both.duration_ms).toBeGreaterThanOrEqual(hour);
  });

  test('sends its decision without waiting for the previous one', async () => {
    const runId = await waitingAt('g1', 'g2');
    await engine.carriedOut(runId);
    expect((await decide(runId, 'g1')).first).toBe(true);
    expect((await decide(runId, 'g2')).first).toBe(true);
  });
});

describe('a gate that is open when its run ends', () => {
  const nothing = { control: [], observed: [] };
  const ends: [string, (runId: string) => Promise<unknown>][] = [
    ['by a cancel', (runId) => cancelRun(engine.db, { actor: engine.actor, runId, alerts: false })],
    [
      'without its execution',
      (runId) => abandonRun(engine.db, { runId, kind: 'crash', error: 'Gone', alerts: false }),
    ],
    [
      'by the failure of a step',
      (runId) =>
        reportFailure(engine.db, {
          ...nothing,
          run_id: runId,
          n: 1,
          failed: [
            {
              step_key: 'a',
              node_id: 'a',
              label: 'a',
              kind: 'tool',
              iteration: [],
              error: 'no',
              reason: 'node',
            },
          ],
          execution: 'e1',
          alerts: false,
        }),
    ],
    [
      'well',
      (runId) =>
        settleRun(engine.db, {
          ...nothing,
          run_id: runId,
          output: '{}',
          state: '{}',
          execution: 'e1',
        }),
    ],
  ];
  test.each(ends)('is closed with a run that ends %s', async (_how, end) => {
    const runId = await waitingAt('g1', 'g2');
    await decide(runId, 'g1');
    await end(runId);
    const run = await engine.run(runId);
    expect(run.pending_gates).toEqual([]);
    const gate = (key: string) => run.steps.find((step) => step.step_key === key)!;
    expect(gate('g1').status).toBe('success');
    expect(gate('g2')).toMatchObject({ status: 'cancelled', finished_at: expect.any(String) });
    expect(gate('g2')).not.toHaveProperty('decision');
    const { approvals } = await listApprovals(engine.db, {
      workspaceId: engine.actor.workspaceId,
      limit: 100,
    });
    expect(approvals.filter((approval) => approval.run_id === runId)).toEqual([]);
    await expect(decide(runId, 'g2')).rejects.toMatchObject({
      message: `Run is ${run.status}, not paused at a gate`,
    });
  });

  test('can be decided again only after the resumed run reopens it', async () => {
    const runId = await waitingAt('g1');
    const [first] = (await engine.run(runId)).pending_gates;
    await cancelRun(engine.db, { actor: engine.actor, runId, alerts: false });
    await resumeRun(engine.db, { actor: engine.actor, runId });
    await expect(decide(runId, 'g1')).rejects.toMatchObject({
      message: "Gate 'g1' is not open: the resumed run has not reached it yet",
    });
    await supersede(engine.db, { runId, execution: 'e1', n: 1 });
    expect(await ask(runId, [opening('g1')], 'e2')).toMatchObject({ decisions: [] });
    const [again] = (await engine.run(runId)).pending_gates;
    expect((await engine.run(runId)).steps[0]?.attempts).toMatchObject([
      { attempt: 1, outcome: 'cancelled' },
      { attempt: 2, outcome: null },
    ]);
    expect(again).toMatchObject({ step_key: 'g1' });
    expect(Date.parse(again!.since)).toBeGreaterThan(Date.parse(first!.since));
    await decide(runId, 'g1');
    expect(await ask(runId, [opening('g1')], 'e2')).toMatchObject({
      decisions: [{ step_key: 'g1', round: 1, approved: true }],
    });
  });
});

test.each([
  [undefined, undefined],
  ['', undefined],
  [`it's "50 %" $1 \\ '`, `it's "50 %" $1 \\ '`],
])('a rejection for %j gives step and run the same error', async (given, told) => {
  const runId = await engine.trigger(workflowId);
  const label = `Bob's '50 %' $1 \\ gate`;
  await ask(runId, [{ ...opening('g'), label }]);
  await decideGate(engine.db, { actor: engine.actor, runId, approved: false, reason: given });
  const error = await engine.db.oneFirst(sql.type(z.object({ error: z.string() }))`
    SELECT error FROM steps WHERE run_id = ${runId} AND step_key = 'g'`);
  expect(error).toBe(rejectionError(label, told));
  expect(error).toBe(`Rejected at gate '${label}'${told === undefined ? '' : `: ${told}`}`);
});

describe('the clock of a gate', () => {
  const checked = { step_key: 'g1', round: 1, execution: 'e1', alerts: true };
  const waitingWith = async (settings: GateSettings): Promise<string> => {
    const runId = await engine.trigger(workflowId);
    await ask(runId, [{ ...opening('g1'), settings }]);
    return runId;
  };
  const passed = (runId: string, column: 'expires_at' | 'remind_at') =>
    engine.db.query(sql.unsafe`
      UPDATE gates SET ${sql.identifier([column])} = now() WHERE run_id = ${runId}`);
  const check = (runId: string) => checkGate(engine.db, { ...checked, run_id: runId });

  test('is found while it is due soon, and not otherwise', async () => {
    expect(await runsDueWithin(engine.db, 12)).toEqual([]);
    const runId = await waitingWith({ timeout_seconds: 5, on_timeout: 'reject' });
    expect(await runsDueWithin(engine.db, 12)).toEqual([runId]);
    expect(await runsDueWithin(engine.db, 0)).toEqual([]);
    await cancelRun(engine.db, { actor: engine.actor, runId, alerts: false });
    expect(await runsDueWithin(engine.db, 12)).toEqual([]);
  });

  test('returns when to check again, and queues one alert for each due reminder', async () => {
    const runId = await waitingWith({ remind_seconds: 60 });
    expect((await check(runId)).wait_ms).toBeGreaterThan(55_000);
    await passed(runId, 'remind_at');
    await Promise.all([check(runId), check(runId), check(runId)]);
    const alerts = await engine.db.any(
      sql.type(
        z.object({ payload: z.record(z.string(), z.unknown()) }),
      )`SELECT payload FROM outbox WHERE run_id = ${runId} AND kind = 'alert'`,
    );
    expect(alerts).toMatchObject([
      { payload: { event: 'paused', text: 'Reminder: ?', node_id: 'g1' } },
    ]);
  });

  test('decides once together with a concurrent person', async () => {
    for (let round = 0; round < raceRounds(20); round += 1) {
      const runId = await waitingWith({ timeout_seconds: 60, on_timeout: 'reject' });
      await passed(runId, 'expires_at');
      const vote = { actor: engine.actor, runId, approved: true };
      const [timeout, person] = await Promise.allSettled([
        check(runId),
        decideGate(engine.db, vote),
      ]);
      expect(timeout).toMatchObject({ value: { decision: { approved: false } } });
      expect(person).toMatchObject({
        reason: { message: "Gate 'g1' has timed out: its deadline has passed" },
      });
    }
  });

  test('returns the decision that ended the run to an execution that asks again', async () => {
    const runId = await waitingWith({ timeout_seconds: 60, on_timeout: 'reject' });
    await passed(runId, 'expires_at');
    const first = await check(runId);
    expect(first).toMatchObject({ decision: { approved: false } });
    const failed = { node_id: 'g1', label: 'g1', kind: 'human_gate' } as const;
    await reportFailure(engine.db, {
      ...{ run_id: runId, n: 1, control: [], observed: [], execution: 'e1', alerts: false },
      failed: [{ ...failed, iteration: [], step_key: 'g1', error: 'Rejected', reason: 'rejected' }],
    });
    expect(await engine.run(runId)).toMatchObject({ status: 'failed' });
    expect(await check(runId)).toEqual(first);
    const settings: GateSettings = { timeout_seconds: 60, on_timeout: 'reject' };
    const { decisions } = await ask(runId, [{ ...opening('g1'), settings }]);
    expect(decisions).toEqual([first.decision]);
  });

  test('does nothing for an execution that was replaced', async () => {
    const runId = await waitingWith({ timeout_seconds: 60, on_timeout: 'approve' });
    await passed(runId, 'expires_at');
    await supersede(engine.db, { runId, execution: 'e1', n: 0 });
    expect(await check(runId)).toEqual({});
    expect((await engine.run(runId)).pending_gates).toHaveLength(1);
  });
});
