import { setTimeout as sleep } from 'node:timers/promises';
import type { Feature } from '#test/storm/world.ts';
import { CAP_USD, STEP_MICROS } from './graphs.ts';
import { start, until } from './runs.ts';

const usd = (micros: number): number => micros / 1e6;
const STEPS = 2;

/** A budget of a new workflow with room for a few runs, and more concurrent triggers than fit. */
export const budgets: Feature = {
  name: 'budgets',
  weight: 8,
  run: async (world, random, id) => {
    const { owner } = world.people;
    const created = await world.caller.act(owner, 'create workflow', {
      method: 'POST',
      path: '/api/workflows',
      body: {
        name: `budgeted ${id}`,
        graph: {
          nodes: Array.from({ length: STEPS }, (_, index) => ({
            id: `step-${index}`,
            kind: 'agent',
            prompt: '{act}',
            mock: { output: 'done', cost_usd: usd(STEP_MICROS), delay_ms: 80 },
          })),
          edges: [{ source: 'step-0', target: 'step-1' }],
        },
      },
    });
    if (created.outcome !== 'acknowledged') return;
    const workflowId: string = created.body.id;
    const room = random.int(2, 4);
    const estimated = random.chance(0.8);
    const budget = await world.caller.act(
      owner,
      'create budget',
      {
        method: 'POST',
        path: '/api/budgets',
        body: {
          name: `budget ${id}`,
          scope: 'workflow',
          workflow_id: workflowId,
          window: 'total',
          limit_usd: usd(room * STEPS * STEP_MICROS),
          ...(estimated ? { reservation_estimate_usd: usd(STEPS * STEP_MICROS) } : {}),
        },
      },
      { workflowId, room, estimated },
    );
    if (budget.outcome !== 'acknowledged') return;
    await Promise.all(
      Array.from({ length: room + 3 }, async (_, index) => {
        const nonce = `${id}-${index}`;
        for (let tries = 0; tries < 4; tries += 1) {
          const answer = await world.caller.act(
            owner,
            'trigger budgeted',
            {
              method: 'POST',
              path: `/api/workflows/${workflowId}/runs`,
              body: { act: nonce },
              headers: { 'idempotency-key': `key-${nonce}` },
            },
            { workflowId, nonce, key: `key-${nonce}` },
          );
          if (answer.outcome === 'acknowledged' || answer.status === 402) return;
          await sleep(random.int(300, 1_000));
        }
      }),
    );
  },
};

/** A run that its cap stops, continued by an override; sometimes by two at once. */
export const caps: Feature = {
  name: 'caps',
  weight: 6,
  run: async (world, random, id) => {
    const runId = await start(world, random, random.pick(['capped', 'capped fan']), id);
    if (runId === undefined) return;
    const run = await until(world, runId, ['success', 'failed'], 15_000);
    if (run?.status !== 'failed') return;
    const { owner, colleague } = world.people;
    const override = (person: typeof owner) =>
      world.caller.act(
        person,
        'override',
        {
          method: 'POST',
          path: `/api/runs/${runId}/budget-override`,
          body: { approved: true, cap_usd: CAP_USD * 10, reason: id },
        },
        { runId },
      );
    await (random.chance(0.4)
      ? Promise.all([override(owner), override(colleague)])
      : override(owner));
  },
};
