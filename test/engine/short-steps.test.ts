import { describe, expect, test } from '@jest/globals';
import proto from '@temporalio/proto';
import { z } from 'zod';
import { sql } from '#shared/db/pool.ts';
import { chain, echo, edge, eventually, mock, useEngine } from '#test/support/engine.ts';
import { soakTest } from '#test/support/soak.ts';
import { fetchHistory } from './histories.ts';

const { EventType } = proto.temporal.api.enums.v1;

const engine = useEngine();

/** The number of events of each kind in the history of an ended run. */
async function countEvents(runId: string) {
  const { events } = await fetchHistory(engine, runId);
  const count = (type: proto.temporal.api.enums.v1.EventType) =>
    events!.filter((event) => event.eventType === type).length;
  return {
    tasks: count(EventType.EVENT_TYPE_WORKFLOW_TASK_COMPLETED),
    activities: count(EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED),
    timers: count(EventType.EVENT_TYPE_TIMER_STARTED),
    refusals: events!.filter((event) => /short lane has no room/.test(JSON.stringify(event)))
      .length,
  };
}

/** Locks the rows of runs while `work` runs, so that their steps cannot start. */
async function whileHeld(runIds: string[], work: () => Promise<unknown>): Promise<void> {
  const held = Promise.withResolvers<undefined>();
  const release = Promise.withResolvers<undefined>();
  const holder = engine.db.transaction(async (tx) => {
    const ids = sql.array(runIds, 'text');
    await tx.query(sql.unsafe`SELECT FROM runs WHERE id = ANY(${ids}) FOR UPDATE`);
    held.resolve(undefined);
    await release.promise;
  });
  await held.promise;
  try {
    await work();
  } finally {
    release.resolve(undefined);
    await holder;
  }
}

/** A workflow that starts this many short steps at once, `seconds` of its input after the start of its run. */
function defineWide(width: number): Promise<string> {
  const ids = Array.from({ length: width }, (_, n) => `n${n}`);
  const params = { seconds: '{seconds}' };
  return engine.define({
    nodes: [{ id: 'wait', kind: 'tool', tool_name: 'delay', params }, ...ids.map((id) => echo(id))],
    edges: ids.map((id) => edge('wait', id)),
  });
}

/** Starts a run of it, and waits until its delay has begun. */
async function startWide(workflowId: string, seconds = 1): Promise<string> {
  const runId = await engine.trigger(workflowId, { seconds });
  await eventually(async () => (await engine.run(runId)).steps.length === 1);
  return runId;
}

/**
 * What the short steps of these runs led to, counted once the runs have ended. Their rows are locked from before the
 * first short step until the last one is dispatched. Undefined when a busy machine has begun one before the lock.
 */
async function holdShortSteps(count: number, width: number, leadMs: number) {
  const workflowId = await defineWide(width);
  const ends = Date.now() + leadMs;
  const runIds = await Promise.all(
    Array.from({ length: count }, () => startWide(workflowId, leadMs / 1_000)),
  );
  const { client } = engine.deps.temporal;
  /** Without a short step in the short lane, its run has one in the long lane. */
  const isInLongLane = async (runId: string) => {
    const { events } = await client.workflow.getHandle(runId).fetchHistory();
    return events!.some(
      ({ eventType }) => eventType === EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
    );
  };
  let isInTime = false;
  await whileHeld(runIds, async () => {
    isInTime = Date.now() < ends;
    if (!isInTime) return;
    await eventually(async () => {
      return (await Promise.all(runIds.map(isInLongLane))).some(Boolean);
    });
    await pause(1_000);
  });
  await Promise.all(runIds.map((runId) => engine.until(runId, ['success'])));
  const counts = await Promise.all(runIds.map(countEvents));
  const sumOf = (key: 'activities' | 'refusals'): number =>
    counts.reduce((sum, each) => sum + each[key], 0);
  return isInTime ? { activities: sumOf('activities'), refusals: sumOf('refusals') } : undefined;
}

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms));

describe('a step in the short lane', () => {
  test('is not a server activity, and its run needs few workflow tasks', async () => {
    const runId = await engine.start(
      chain(echo('a', '1'), mock('b', { output: '{a}', cost_usd: 0.01 }), echo('c', 'b')),
    );
    const run = await engine.until(runId, ['success']);
    expect(run).toMatchObject({ output: { c: 1 }, cost_usd: 0.01 });
    const backwards = sql.type(z.object({ step_key: z.string() }))`
      SELECT step_key FROM steps WHERE run_id = ${runId} AND finished_at < started_at`;
    expect(await engine.db.any(backwards)).toEqual([]);
    expect(run.steps.map(({ step_key, attempt }) => [step_key, attempt])).toEqual([
      ['a', 1],
      ['b', 1],
      ['c', 1],
    ]);
    const { activities, tasks } = await countEvents(runId);
    expect(activities).toBe(0);
    // On a busy machine, each may take longer than a workflow task allows. An activity would be two tasks for each.
    expect(tasks).toBeLessThan(2 * 3);
  });

  test('moves to the long lane for a retry, after the pause of its node', async () => {
    const runId = await engine.start(
      chain(
        mock(
          'a',
          { output: 'ok', fail_times: 2 },
          { retry: { max_attempts: 3, initial_interval_seconds: 0.3, backoff: 1 } },
        ),
      ),
    );
    const { steps } = await engine.until(runId, ['success']);
    expect(steps[0]).toMatchObject({ attempt: 3, output: 'ok' });
    const [first, second] = steps[0]!.attempts;
    const waited = Date.parse(second!.started_at) - Date.parse(first!.finished_at!);
    expect(waited).toBeGreaterThanOrEqual(290);
    expect(await countEvents(runId)).toMatchObject({ activities: 1, timers: 1 });
  });

  soakTest('moves to the long lane when it is slow to compute, two at a time', async () => {
    const ids = Array.from({ length: 12 }, (_, n) => `n${n}`);
    const costly = (n: number) => `matches(text, '(?i)(?:a[ab]{0,30}){0,5}${n}x')`;
    const runId = await engine.start(
      {
        nodes: ids.map((id, n) => echo(id, costly(n))),
        edges: [],
      },
      { text: 'abba'.repeat(1_000) },
    );
    const run = await engine.until(runId, ['success']);
    expect(run.output).toEqual(Object.fromEntries(ids.map((id) => [id, false])));
    expect(run.steps.map(({ attempt }) => attempt)).toEqual(ids.map(() => 1));
    const { events } = await fetchHistory(engine, runId);
    let open = 0;
    let most = 0;
    for (const { eventType } of events!) {
      if (eventType === EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED) open += 1;
      if (eventType === EventType.EVENT_TYPE_ACTIVITY_TASK_COMPLETED) open -= 1;
      most = Math.max(most, open);
    }
    expect((await countEvents(runId)).activities).toBe(12);
    expect(most).toBe(2);
  });

  test('fails when its tries are used up', async () => {
    const runId = await engine.start(chain(echo('a', '1 / 0')));
    const run = await engine.until(runId, ['failed']);
    expect(run.failure).toEqual({ kind: 'node', node_id: 'a' });
    expect(run.steps[0]).toMatchObject({ status: 'failed', attempt: 1 });
    expect((await engine.frames(runId)).map(({ type }) => type)).toEqual([
      'step_started',
      'step_failed',
      'run_failed',
    ]);
    expect((await countEvents(runId)).activities).toBe(0);
  });

  soakTest('that waits for the database moves to the long lane, and runs once', async () => {
    const gate = { id: 'gate', kind: 'human_gate' as const };
    const runId = await engine.start(
      chain(gate, mock('a', { output: 'x', cost_usd: 0.01 }), echo('b', 'a')),
    );
    await engine.until(runId, ['paused']);
    await engine.approve(runId);
    const isScheduled = async () => {
      const { events } = await engine.deps.temporal.client.workflow.getHandle(runId).fetchHistory();
      return events!.some(
        (event) => event.eventType === EventType.EVENT_TYPE_ACTIVITY_TASK_SCHEDULED,
      );
    };
    await whileHeld([runId], () => eventually(isScheduled, 15_000));
    const run = await engine.until(runId, ['success']);
    expect(run).toMatchObject({ output: { b: 'x' }, cost_usd: 0.01 });
    const told = (await engine.frames(runId)).flatMap((frame) =>
      'node_id' in frame && frame.node_id !== 'gate' ? [[frame.type, frame.node_id]] : [],
    );
    expect(told).toEqual([
      ['step_started', 'a'],
      ['step_completed', 'a'],
      ['step_started', 'b'],
      ['step_completed', 'b'],
    ]);
  });
});

describe('a run with only short steps', () => {
  const loop = (rounds: number) => ({
    nodes: [
      { id: 'loop', kind: 'loop' as const, expression: 'true', max_iterations: rounds },
      echo('step', 'loop.iterations'),
    ],
    edges: [edge('loop', 'step', 'true'), edge('step', 'loop')],
  });

  test('receives a decision while it runs', async () => {
    const { nodes, edges } = loop(400);
    const gates = ['first', 'second'].map((id) => ({ id, kind: 'human_gate' as const }));
    const runId = await engine.start({
      nodes: [...gates, ...nodes, echo('after')],
      edges: [edge('first', 'loop'), ...edges, edge('second', 'after')],
    });
    await engine.until(runId, ['paused']);
    const approve = (stepKey: string) => engine.approve(runId, { stepKey });
    await approve('first');
    await eventually(async () => (await engine.run(runId)).steps.length > 5);
    await approve('second');
    const run = await engine.until(runId, ['success'], 60_000);
    const after = run.steps.find(({ step_key }) => step_key === 'after')!;
    const later = run.steps.filter(
      ({ node_id, started_at }) => node_id === 'step' && started_at > after.started_at,
    );
    expect(later.length).toBeGreaterThan(100);
  });

  test('receives a cancel while it runs, and then begins no step', async () => {
    const runId = await engine.start(loop(1_000));
    await eventually(async () => (await engine.run(runId)).steps.length > 5);
    await engine.cancel(runId);
    const cancelled = await engine.until(runId, ['failed']);
    await eventually(async () => {
      const { status } = await engine.deps.temporal.client.workflow.getHandle(runId).describe();
      return status.name !== 'RUNNING';
    });
    await pause(200);
    expect((await engine.run(runId)).steps).toHaveLength(cancelled.steps.length);
    expect((await countEvents(runId)).activities).toBe(0);
  });

  test('has at most two in flight', async () => {
    const runId = await startWide(await defineWide(40));
    let most = 0;
    await whileHeld([runId], async () => {
      const end = Date.now() + 2_500;
      while (Date.now() < end) {
        // Without the search, which reads the words of runs in the background.
        const waiting = await engine.db.oneFirst(sql.unsafe`
          SELECT count(*)::int FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock' AND query NOT LIKE '%FOR KEY SHARE%'`);
        most = Math.max(most, Number(waiting));
        await pause(20);
      }
    });
    expect(most).toBeGreaterThan(1);
    expect(most).toBeLessThanOrEqual(2);
    const run = await engine.until(runId, ['success']);
    expect(run.steps.filter(({ status }) => status === 'success')).toHaveLength(41);
  });

  soakTest('leaves room on the worker for other workspaces', 240_000, async () => {
    // On a busy machine, an attempt may time out before the last one arrives, and leave its slot to that one.
    for (let tries = 1; ; tries += 1) {
      const counts = await holdShortSteps(15, 2, 4_000 * tries);
      expect(counts?.refusals ?? 0).toBeLessThanOrEqual(30 - 25);
      if (counts?.refusals === 30 - 25) {
        expect(counts.activities).toBeGreaterThanOrEqual(30 - 25);
        return;
      }
      expect(tries).toBeLessThan(5);
    }
  });
});

test('a step starts in the transaction that schedules it', async () => {
  const ids = Array.from({ length: 8 }, (_, n) => `n${n}`);
  const runId = await engine.start({
    nodes: ids.map((id) => mock(id, { output: id, delay_ms: 1 })),
    edges: ids.slice(1).map((id, n) => ({ source: ids[n]!, target: id })),
  });
  await engine.until(runId, ['success']);
  const { events } = await fetchHistory(engine, runId);
  const at = ({ eventTime: time }: (typeof events & object)[number]): number =>
    Number(time!.seconds) * 1e3 + time!.nanos! / 1e6;
  const scheduled = new Map(
    events!
      .filter((event) => event.activityTaskScheduledEventAttributes != null)
      .map((event) => [String(event.eventId), at(event)]),
  );
  const delays = events!.flatMap((event) => {
    const started = event.activityTaskStartedEventAttributes;
    return started == null ? [] : [at(event) - scheduled.get(String(started.scheduledEventId))!];
  });
  expect(delays).toHaveLength(ids.length);
  // A dispatch is a transaction and a round trip, and takes at least a millisecond.
  expect(Math.min(...delays)).toBeLessThan(0.5);
});
