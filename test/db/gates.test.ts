import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { decideGate, pauseAtGates } from '../../shared/db/gates.ts';
import { sql } from '../../shared/db/pool.ts';
import { echo, type Engine, eventually, startEngine } from '../support/engine.ts';

let engine: Engine;
let workflowId: string;
beforeAll(async () => {
  engine = await startEngine({ worker: false });
  workflowId = await engine.define({ nodes: [echo('a')], edges: [] });
});
afterAll(() => engine.close());

const opening = (stepKey: string, round = 1) => ({
  step_key: stepKey,
  round,
  node_id: stepKey,
  label: stepKey,
  iteration: [],
  prompt: '?',
  fails_on_reject: true,
});

const ask = (runId: string, gates: ReturnType<typeof opening>[]) =>
  pauseAtGates(engine.db, {
    run_id: runId,
    control: [],
    observed: [],
    gates,
    execution: 'e1',
    alerts: false,
  });

const waitingAt = async (...stepKeys: string[]): Promise<string> => {
  const runId = await engine.trigger(workflowId);
  await ask(
    runId,
    stepKeys.map((stepKey) => opening(stepKey)),
  );
  return runId;
};

const decide = (runId: string, nodeId?: string, approved = true) =>
  decideGate(engine.db, { actor: engine.actor, runId, approved, nodeId });

/** Runs `acts` so that all of them wait for the run's row, which another transaction holds until they do. */
async function queued<T>(
  runId: string,
  acts: (() => Promise<T>)[],
): Promise<PromiseSettledResult<T>[]> {
  const waiting = () =>
    engine.db.oneFirst(sql.type(z.object({ n: z.number() }))`
      SELECT count(*) AS n FROM pg_stat_activity
      WHERE datname = current_database() AND wait_event_type = 'Lock'`);
  const held = Promise.withResolvers<undefined>();
  const release = Promise.withResolvers<undefined>();
  const holder = engine.db.transaction(async (tx) => {
    await tx.query(sql.unsafe`SELECT FROM runs WHERE id = ${runId} FOR UPDATE`);
    held.resolve(undefined);
    await release.promise;
  });
  await held.promise;
  const results = Promise.allSettled(acts.map((act) => act()));
  await eventually(async () => (await waiting()) >= acts.length);
  release.resolve(undefined);
  await holder;
  return results;
}

const outcomes = (results: PromiseSettledResult<unknown>[]): string[] =>
  results
    .map((result) => (result.status === 'fulfilled' ? 'decided' : String(result.reason.message)))
    .sort();

const audits = (runId: string) =>
  engine.db.manyFirst(sql.type(z.object({ node: z.string() }))`
    SELECT details ->> 'node_id' AS node FROM audit_log
    WHERE target_id = ${runId} AND action IN ('approve', 'reject') ORDER BY 1`);

describe('deciders who wait for the same run', () => {
  test('decide a gate once, and the others are told by whom', async () => {
    const runId = await waitingAt('g1', 'g2');
    const results = await queued(
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

  test('decide one gate each, from the oldest on, where nobody names a gate', async () => {
    const runId = await waitingAt('g1', 'g2', 'g3');
    const results = await queued(
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
    // The row goes to whoever asked for it first.
    const results = await queued<unknown>(runId, [
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

describe('a gate that is open while its run is at work', () => {
  test('is listed and can be decided, and the clocks of the run move only with its status', async () => {
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

  test('is sent to Temporal without waiting for the decision before it', async () => {
    const runId = await waitingAt('g1', 'g2');
    await engine.carriedOut(runId);
    expect((await decide(runId, 'g1')).first).toBe(true);
    expect((await decide(runId, 'g2')).first).toBe(true);
  });
});
