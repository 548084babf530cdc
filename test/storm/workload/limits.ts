import { setTimeout as sleep } from 'node:timers/promises';
import type { Feature } from '#test/storm/world.ts';
import { SHARED_TRIGGER } from '#test/storm/oracle/debounce.ts';
import { act, anybody, start } from './runs.ts';

/** The keys of limits. */
export const lanes = ['red', 'green', 'blue'];

/** Several runs with one key at once, more than its limit lets start. Some are cancelled where they wait, and resumed. */
export const queues: Feature = {
  name: 'queues',
  weight: 20,
  run: async (world, random, id) => {
    const graph = random.pick(['queued', 'queued', 'newest', 'paced'] as const);
    const lane = random.pick(lanes);
    const runs = await Promise.all(
      Array.from({ length: random.int(2, 5) }, (_, index) =>
        start(world, random.fork(`run ${index}`), graph, `${id}-${index}`, {
          lane,
          level: random.int(-2, 2),
        }),
      ),
    );
    // Newer runs cancel those of this workflow.
    if (graph === 'newest') return;
    const { owner, colleague } = world.people;
    for (const runId of runs) {
      if (runId === undefined || !random.chance(0.25)) continue;
      await sleep(random.int(0, 800));
      await act(world, colleague, 'cancel', runId);
      if (random.chance(0.6)) await act(world, owner, 'resume', runId);
    }
  },
};

/** Several triggers with one key, one after the other. */
export const debounces: Feature = {
  name: 'debounces',
  weight: 8,
  run: async (world, random, id) => {
    const workflowId = world.workflows.settling;
    const lane = random.pick(lanes);
    for (let left = random.int(1, 4); left > 0 && world.running(); left -= 1) {
      const nonce = `${id}-${left}`;
      await world.caller.act(
        anybody(world, random),
        SHARED_TRIGGER,
        {
          method: 'POST',
          path: `/api/workflows/${workflowId}/runs`,
          body: { act: nonce, lane },
        },
        { workflowId, nonce },
      );
      await sleep(random.int(0, 1_200));
    }
  },
};

/** The limit changes while runs hold its slots and wait for them. */
export const limitChanges: Feature = {
  name: 'limit changes',
  weight: 3,
  run: async (world, random) => {
    const workflowId = world.workflows.queued;
    const concurrency = { limit: random.int(1, 3), key: '{lane}', on_limit: 'queue' };
    await world.caller.act(
      world.people.owner,
      'set limits',
      {
        method: 'PUT',
        path: `/api/workflows/${workflowId}/limits`,
        body: { concurrency, priority: 'default(level, 0)' },
      },
      { workflowId },
    );
  },
};
