import { setTimeout as sleep } from 'node:timers/promises';
import type { Random } from '#test/storm/random.ts';
import type { Feature, World } from '#test/storm/world.ts';
import { act, anybody, start } from './runs.ts';

/** One event, sent until a response, and sometimes twice at once. Its id makes it one event. */
async function send(
  world: World,
  random: Random,
  { id, name, data }: { id: string; name: string; data: object },
): Promise<void> {
  const person = anybody(world, random);
  const post = (via: 0 | 1) =>
    world.caller.act(
      person,
      'send event',
      { method: 'POST', path: '/api/events', body: { id, name, data }, via },
      { eventId: id },
    );
  const twice = random.chance(0.3);
  for (let tries = 0; tries < 5; tries += 1) {
    const answers = await (twice && tries === 0
      ? Promise.all([post(0), post(1)])
      : Promise.all([post(random.pick([0, 1]))]));
    if (answers.some(({ outcome }) => outcome === 'acknowledged')) return;
    await sleep(random.int(200, 1_000));
  }
}

/** A run that waits for its own event, which comes before the run reaches its wait, meanwhile, or not at all. */
export const waits: Feature = {
  name: 'waits',
  weight: 12,
  run: async (world, random, id) => {
    const runId = await start(world, random, 'awaits', id);
    if (runId === undefined) return;
    await sleep(random.pick([0, 0, random.int(100, 4_000)]));
    const { owner, colleague } = world.people;
    const cancels = random.chance(0.2);
    if (cancels) await act(world, colleague, 'cancel', runId);
    if (random.chance(0.85)) {
      await send(world, random, { id: `paid-${id}`, name: 'paid', data: { act: id } });
    }
    if (cancels) await act(world, owner, 'resume', runId);
  },
};

/** Runs that wait for the same event, which comes twice: each of them takes one. */
export const broadcasts: Feature = {
  name: 'broadcasts',
  weight: 4,
  run: async (world, random, id) => {
    await Promise.all(
      Array.from({ length: random.int(2, 5) }, (_, index) =>
        start(world, random, 'listens', `${id}-${index}`),
      ),
    );
    for (const round of [1, 2]) {
      await send(world, random, { id: `bell-${id}-${round}`, name: 'bell', data: { act: id } });
    }
  },
};
