import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import type { GraphInput } from '#shared/contract/workflows/graph.ts';
import { sql } from '#shared/db/pool.ts';
import { type Engine, startEngine } from '#test/support/engine.ts';
import { raceRounds } from '#test/support/soak.ts';

const ROUNDS = raceRounds(200);
/** Concurrent runs: they keep the database, the worker and both APIs busy. */
const AT_ONCE = 12;

let engine: Engine;
let apps: [App, App];
beforeAll(async () => {
  engine = await startEngine();
  apps = [buildApp(engine.deps), buildApp(engine.deps)];
  await Promise.all(apps.map((app) => app.ready()));
}, 60_000);
afterAll(async () => {
  await Promise.all(apps.map((app) => app.close()));
  await engine.close();
});

const graph: GraphInput = {
  nodes: [
    { id: 'g1', kind: 'human_gate' },
    { id: 'g2', kind: 'human_gate' },
  ],
  edges: [],
};

async function decide(runId: string, app: App, nodeId: string) {
  const answer = await app.inject({
    method: 'POST',
    url: `/api/runs/${runId}/approve`,
    payload: { node_id: nodeId },
  });
  return { nodeId, status: answer.statusCode, detail: answer.json().detail as string | undefined };
}

test('four concurrent decisions on two parallel gates decide each gate once', async () => {
  const workflowId = await engine.define(graph);
  let left = ROUNDS;
  const runs: string[] = [];
  const refusals = new Set<string | undefined>();
  const rounds = async () => {
    while (left > 0) {
      left -= 1;
      const runId = await engine.trigger(workflowId);
      runs.push(runId);
      await engine.until(runId, ['paused'], 60_000);
      const answers = await Promise.all(
        apps.flatMap((app) => ['g1', 'g2'].map((nodeId) => decide(runId, app, nodeId))),
      );
      for (const nodeId of ['g1', 'g2']) {
        const own = answers.filter((answer) => answer.nodeId === nodeId);
        expect(own.map(({ status }) => status).sort()).toEqual([200, 409]);
        refusals.add(own.find(({ status }) => status === 409)?.detail);
      }
      await engine.until(runId, ['success'], 60_000);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, rounds));
  expect([...refusals].sort()).toEqual([
    "Gate 'g1' has already been approved by Owner",
    "Gate 'g2' has already been approved by Owner",
  ]);
  const entries = await engine.db.one(sql.type(z.object({ all: z.number(), gates: z.number() }))`
    SELECT count(*) AS all, count(DISTINCT (target_id, details ->> 'node_id')) AS gates FROM audit_log
    WHERE action = 'approve' AND target_id = ANY(${sql.array(runs, 'text')})`);
  expect(entries).toEqual({ all: 2 * ROUNDS, gates: 2 * ROUNDS });
}, 180_000);
