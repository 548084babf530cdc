import { setTimeout as sleep } from 'node:timers/promises';
import type { Person } from '#test/storm/people.ts';
import type { Feature, World } from '#test/storm/world.ts';
import { lanes } from './limits.ts';
import { act, start, until } from './runs.ts';

interface Decision {
  nodeId?: string;
  stepKey?: string;
  approved: boolean;
}

/** Each decision has a unique reason, which identifies the effective one. */
function decide(
  world: World,
  person: Person,
  runId: string,
  { nodeId, stepKey, approved }: Decision,
  reason: string,
  via?: 0 | 1,
) {
  return world.caller.act(
    person,
    'decide',
    {
      method: 'POST',
      path: `/api/runs/${runId}/approve`,
      body: {
        approved,
        reason,
        input: { note: reason },
        ...(nodeId === undefined ? {} : { node_id: nodeId }),
        ...(stepKey === undefined ? {} : { step_key: stepKey }),
      },
      ...(via === undefined ? {} : { via }),
    },
    { runId, nodeId: nodeId ?? null, stepKey: stepKey ?? null, approved, reason },
  );
}

/** One gate, decided by two people at once, through both processes; with the same decision or not. */
export const gates: Feature = {
  name: 'gates',
  weight: 14,
  run: async (world, random, id) => {
    const runId = await start(
      world,
      random,
      random.pick(['gated', 'strict', 'gate in a loop', 'yielding', 'yielding']),
      id,
      { lane: random.pick(lanes), level: random.int(-2, 2) },
    );
    if (runId === undefined) return;
    const { owner, colleague } = world.people;
    for (let round = 0; round < 5 && world.running(); round += 1) {
      const run = await until(world, runId, ['paused', 'success', 'failed'], 15_000);
      if (run?.status === 'failed' && random.chance(0.6)) {
        await act(world, owner, 'resume', runId);
        continue;
      }
      if (run?.status !== 'paused') return;
      await sleep(random.int(0, 800));
      const stepKey: string | undefined = random.chance(0.5)
        ? run.pending_gate?.step_key
        : undefined;
      const of = stepKey === undefined ? {} : { stepKey };
      const approved = random.chance(0.8);
      const reason = `${id}-${round}`;
      await Promise.all([
        decide(world, owner, runId, { ...of, approved }, `${reason}-owner`, 0),
        decide(
          world,
          colleague,
          runId,
          { ...of, approved: random.chance(0.8) },
          `${reason}-colleague`,
          1,
        ),
      ]);
    }
  },
};

/** Two gates that are open at the same time: both are decided at once, sometimes each by two people. */
export const parallelGates: Feature = {
  name: 'parallel gates',
  weight: 12,
  run: async (world, random, id) => {
    const runId = await start(world, random, 'two gates', id);
    if (runId === undefined) return;
    const { owner, colleague } = world.people;
    for (let round = 0; round < 4 && world.running(); round += 1) {
      const run = await until(world, runId, ['paused', 'success', 'failed'], 15_000);
      if (run?.status !== 'paused') return;
      const reason = `${id}-${round}`;
      const people = random.chance(0.5) ? [owner, colleague] : [owner];
      await Promise.all(
        ['left', 'right'].flatMap((nodeId) =>
          people.map((person) =>
            decide(
              world,
              person,
              runId,
              { nodeId, approved: true },
              `${reason}-${nodeId}-${person.name}`,
            ),
          ),
        ),
      );
      if (random.chance(0.15)) await act(world, colleague, 'cancel', runId);
    }
  },
};
