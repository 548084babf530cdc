import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import type { JsonObject } from '#shared/json.ts';
import { startToolServer } from '#test/fakes/tool-server.ts';
import { echo, edge, eventually, mock, useEngine } from '#test/support/engine.ts';
import { startWorkerProcess, type TestProcess } from '#test/support/processes.ts';
import { soakTest } from '#test/support/soak.ts';
import { fetchHistory } from './histories.ts';
import { useStage } from '#test/support/stage.ts';

const engine = useEngine({ worker: false });
const tools = useStage(startToolServer);
let worker: TestProcess;
/** A run that waits at a gate when its only worker is killed. The deadline comes while the other tests run. */
let abandoned: string;
/** A run whose history becomes so long, while its gate is open, that another execution continues it. */
let carried: string;
let answerCarried: () => void = () => undefined;
beforeAll(async () => {
  const killed = await startWorkerProcess(engine.env);
  const graph = branching({ timeout_seconds: 15, on_timeout: 'approve' });
  abandoned = await engine.start(graph);
  await engine.until(abandoned, ['paused']);
  await killed.kill();
  worker = await startWorkerProcess(engine.env);
  carried = await startCarried();
}, 60_000);
afterAll(() => worker.kill());

const gate = (settings: JsonObject) =>
  ({ id: 'review', kind: 'human_gate', prompt: 'Pay?', ...settings }) as never;

const branching = (settings: JsonObject) => ({
  nodes: [gate(settings), echo('paid'), echo('refused')],
  edges: [edge('review', 'paid', 'true'), edge('review', 'refused', 'false')],
});

async function startCarried(seconds = 15): Promise<string> {
  const steps = Array.from({ length: 240 }, (_, at) => `step_${at}`);
  answerCarried = tools.hold('last');
  const runId = await engine.start({
    nodes: [
      { id: 'go', kind: 'human_gate' },
      gate({ timeout_seconds: seconds, on_timeout: 'approve' }),
      ...steps.map((id) => mock(id, { output: 'x', delay_ms: 1 })),
      { id: 'join', kind: 'merge' },
      tools.node('last'),
      echo('paid'),
    ],
    edges: [
      ...steps.flatMap((id) => [edge('go', id), edge(id, 'join')]),
      edge('join', 'last'),
      edge('review', 'paid', 'true'),
    ],
  });
  await engine.until(runId, ['paused']);
  await engine.approve(runId, { nodeId: 'go' });
  return runId;
}

const approve = (runId: string, approved = true) => engine.decide(runId, { approved });

/** How long after its deadline the gate was decided, or is open now, in ms, by the clock of the database. */
const lateness = (runId: string) =>
  engine.db.oneFirst(sql.type(z.object({ late: z.number() }))`
    SELECT extract(epoch FROM coalesce(decided_at, now()) - expires_at)::float8 * 1000 AS late FROM gates
    WHERE run_id = ${runId} AND expires_at IS NOT NULL ORDER BY round DESC LIMIT 1`);

const actions = (runId: string) =>
  engine.db.manyFirst(sql.type(z.object({ action: z.string() }))`
    SELECT action FROM audit_log WHERE target_id = ${runId} ORDER BY seq`);

describe('a gate with a timeout', () => {
  test('ends as configured (approved, rejected or failed), unless a person decides before that', async () => {
    const settings = (on_timeout: string) => ({ timeout_seconds: 1, on_timeout });
    const start = async (action: string) => engine.start(branching(settings(action)));
    const [approved, rejected, failed] = await Promise.all(
      ['approve', 'reject', 'fail'].map(start),
    );
    const early = await engine.start(branching({ timeout_seconds: 600, on_timeout: 'fail' }));
    await engine.until(early, ['paused']);
    await approve(early);
    expect((await engine.until(early, ['success'])).output).toEqual({ paid: 'paid' });

    const yes = await engine.until(approved!, ['success']);
    expect(yes.output).toEqual({ paid: 'paid' });
    const reason = 'no decision within 1 second';
    expect(yes.steps[0]).toMatchObject({
      status: 'success',
      decision: { approved: true, by: null, reason, timed_out: 'approve' },
    });
    const no = await engine.until(rejected!, ['success']);
    expect(no.output).toEqual({ refused: 'refused' });
    expect(no.steps[0]).toMatchObject({ decision: { approved: false, timed_out: 'reject' } });
    const run = await engine.until(failed!, ['failed']);
    const error = `Timed out: ${reason}`;
    expect(run).toMatchObject({
      error: `Node 'review' failed: ${error}`,
      failure: { kind: 'node', node_id: 'review' },
    });
    expect(run.steps[0]).toMatchObject({
      status: 'failed',
      error,
      decision: { timed_out: 'fail' },
    });
    expect(await engine.frames(failed!)).toMatchObject([
      { type: 'step_started' },
      { type: 'run_paused' },
      { type: 'step_failed', error },
      { type: 'run_failed', error: run.error },
    ]);
    for (const runId of [approved!, rejected!, failed!]) {
      expect(await lateness(runId)).toBeGreaterThanOrEqual(0);
      expect(await actions(runId)).toContain('gate_timeout');
    }
  }, 60_000);

  soakTest('fires during another branch, and after one that was resumed', 60_000, async () => {
    const answer = tools.hold('slow');
    const runId = await engine.start({
      nodes: [
        { id: 'first', kind: 'human_gate' },
        gate({ timeout_seconds: 3, on_timeout: 'approve' }),
        tools.node('slow'),
        mock('flaky', { output: 'x', fail_times: 1 }),
        echo('paid'),
      ],
      edges: [edge('first', 'slow'), edge('slow', 'flaky'), edge('review', 'paid', 'true')],
    });
    await engine.until(runId, ['paused']);
    await engine.approve(runId, { nodeId: 'first' });
    await eventually(() => tools.calls('slow').length === 1);
    const paid = async () =>
      (await engine.run(runId)).steps.some(
        ({ step_key, status }) => step_key === 'paid' && status === 'success',
      );
    await eventually(paid);
    answer();
    await engine.until(runId, ['failed']);
    await engine.resume(runId);
    await engine.until(runId, ['success']);
  });

  test('asks again after a resume, without decisions and with a new deadline', async () => {
    const runId = await engine.start({
      nodes: [gate({ required: 2, timeout_seconds: 2, on_timeout: 'fail' }), echo('paid')],
      edges: [edge('review', 'paid', 'true')],
    });
    const before = (await engine.until(runId, ['paused'])).pending_gate!;
    await approve(runId);
    expect((await engine.run(runId)).pending_gate?.decisions).toHaveLength(1);
    await engine.until(runId, ['failed']);
    await engine.resume(runId);
    const again = (await engine.until(runId, ['paused'])).pending_gate!;
    expect(again.decisions).toEqual([]);
    expect(Date.parse(again.expires_at!)).toBeGreaterThan(Date.parse(before.expires_at!));
    await engine.until(runId, ['failed']);
    expect((await actions(runId)).filter((action) => action === 'gate_timeout')).toHaveLength(2);
  }, 60_000);

  test('does not keep a cancelled run open, or decide after it', async () => {
    const runId = await engine.start(branching({ timeout_seconds: 600, on_timeout: 'approve' }));
    await engine.until(runId, ['paused']);
    await engine.cancel(runId);
    await engine.carriedOut(runId);
    const handle = engine.deps.temporal.client.workflow.getHandle(runId);
    await eventually(async () => (await handle.describe()).status.name === 'CANCELLED');
  }, 30_000);

  test('cannot be decided after its deadline, even before its timer fires', async () => {
    const graph = branching({ timeout_seconds: 600, on_timeout: 'reject' });
    const runId = await engine.start(graph);
    await engine.until(runId, ['paused']);
    await engine.db.query(sql.unsafe`
      UPDATE gates SET expires_at = now() WHERE run_id = ${runId}`);
    await expect(approve(runId)).rejects.toThrow(
      "Gate 'review' has timed out: its deadline has passed",
    );
  }, 30_000);

  soakTest('fires although its worker was killed', 40_000, async () => {
    await engine.until(abandoned, ['success'], 30_000);
    expect(await lateness(abandoned)).toBeGreaterThanOrEqual(0);
  });
});

soakTest('the deadline of a gate counts after a run continued as new', 240_000, async () => {
  // On a busy machine, the deadline can come before the history is long.
  for (let tries = 1, isCarried = false; !isCarried; tries += 1) {
    expect(tries).toBeLessThan(5);
    if (tries > 1) carried = await startCarried(15 * tries);
    const review = async () =>
      (await engine.run(carried)).steps.find(({ step_key: key }) => key === 'review');
    await eventually(async () => (await review())?.status === 'success', 30_000);
    const handle = engine.deps.temporal.client.workflow.getHandle(carried);
    const { raw, runId: current, startTime } = await handle.describe();
    isCarried =
      raw.workflowExecutionInfo?.firstRunId !== current &&
      Date.parse((await review())!.decision!.at) > startTime.getTime();
    if (isCarried) {
      // The step that the run was busy with has not ended.
      expect((await engine.run(carried)).status).toBe('running');
      expect(tools.calls('last')).toHaveLength(tries);
    }
    answerCarried();
    await engine.until(carried, ['success']);
  }
});

soakTest('gates with deadlines close together end their run once, resumably', 120_000, async () => {
  // The server refuses the workflow task that ends the run when another timer has fired during it, so the execution
  // forgets that it has ended the run, and does the task again.
  const ids = Array.from({ length: 6 }, (_, at) => `gate_${at}`);
  const workflowId = await engine.define({
    nodes: ids.map((id, at) => ({
      ...{ id, kind: 'human_gate', on_timeout: 'reject' as const },
      timeout_seconds: 1 + at / 25,
    })) as never,
    edges: [],
  });
  const fails = async (runId: string): Promise<void> => {
    expect((await engine.until(runId, ['failed'], 30_000)).failure).toMatchObject({
      kind: 'rejected',
    });
    const execution = engine.deps.temporal.client.workflow.getHandle(runId);
    await eventually(async () => (await execution.describe()).status.name === 'FAILED', 30_000);
  };
  const runIds = await Promise.all(Array.from({ length: 20 }, () => engine.trigger(workflowId)));
  await Promise.all(
    runIds.map(async (runId) => {
      await fails(runId);
      await engine.resume(runId);
      await fails(runId);
    }),
  );
  const forgot = await Promise.all(
    runIds.map(async (runId) => {
      const executions = engine.deps.temporal.client.workflow.list({
        query: `WorkflowId = '${runId}'`,
      });
      for await (const { runId: id } of executions) {
        const handle = engine.deps.temporal.client.workflow.getHandle(runId, id);
        const { events } = await handle.fetchHistory();
        if (events!.some((event) => event.workflowTaskFailedEventAttributes != null)) return true;
      }
      return false;
    }),
  );
  expect(forgot).toContain(true);
});

soakTest(
  'a gate with reminders alerts again after each interval until it is decided',
  30_000,
  async () => {
    const runId = await engine.start(branching({ remind_seconds: 1 }));
    await engine.until(runId, ['paused']);
    const reminded = () =>
      engine.db.oneFirst(sql.type(z.object({ reminders: z.number() }))`
        SELECT reminders FROM gates WHERE run_id = ${runId}`);
    await eventually(async () => (await reminded()) >= 2);
    await approve(runId);
    await engine.until(runId, ['success']);
  },
);

soakTest('a deadline soon after a restart does not wait for a killed worker', 180_000, async () => {
  // On a busy machine the new worker can release the run too late, some time after it is ready.
  for (let tries = 0, inTime = false; !inTime; tries += 1) {
    expect(tries).toBeLessThan(5);
    const settings = { timeout_seconds: 8 + 3 * tries, on_timeout: 'approve' };
    const runId = await engine.start(branching(settings));
    await engine.until(runId, ['paused']);
    const handle = engine.deps.temporal.client.workflow.getHandle(runId);
    await eventually(async () => {
      const { events } = await handle.fetchHistory();
      return events!.some((event) => event.timerStartedEventAttributes != null);
    });
    await worker.kill();
    worker = await startWorkerProcess({ ...engine.env, LOG_LEVEL: 'debug' });
    await eventually(() => worker.tail(500).join('\n').includes('any worker may take the runs'));
    inTime = (await lateness(runId)) < 0;
    await engine.until(runId, ['success'], 30_000);
    if (!inTime) continue;
    const { events } = await fetchHistory(engine, runId);
    expect(events!.filter((event) => event.workflowTaskTimedOutEventAttributes != null)).toEqual(
      [],
    );
  }
});
