import { setTimeout as sleep } from 'node:timers/promises';
import type { Feature, World } from '#test/storm/world.ts';
import { act, start } from './runs.ts';

const TOLD_WITHIN_MS = 12_000;

/** The path of the address that the run has sent to a tool; undefined if it has sent none in time. */
async function addressOf(world: World, runId: string): Promise<string | undefined> {
  const deadline = Date.now() + TOLD_WITHIN_MS;
  while (Date.now() < deadline && world.running()) {
    const call = world.outside.effects.find(({ key }) => key.startsWith(`${runId}:order:`));
    if (call !== undefined) return new URL(JSON.parse(call.body).callback).pathname;
    await sleep(200);
  }
  return undefined;
}

/** Another program that answers a run: before it waits, meanwhile, too late or never; twice, and sometimes differently. */
export const callbacks: Feature = {
  name: 'callbacks',
  weight: 10,
  run: async (world, random, id) => {
    const runId = await start(world, random, 'calls back', id);
    if (runId === undefined) return;
    const path = await addressOf(world, runId);
    if (path === undefined) return;
    const { owner, colleague } = world.people;
    await sleep(random.pick([0, 0, random.int(100, 3_000)]));
    const cancels = random.chance(0.15);
    if (cancels) await act(world, colleague, 'cancel', runId);
    const post = (answer: string, via: 0 | 1) =>
      world.caller.act(
        undefined,
        'callback',
        { method: 'POST', path, body: { answer }, via },
        { runId, answer },
      );
    for (let tries = 0; tries < 5 && random.chance(0.9); tries += 1) {
      const other = random.chance(0.3) ? `${id}-other` : id;
      const answers = await Promise.all(
        tries === 0 && random.chance(0.4)
          ? [post(id, 0), post(other, 1)]
          : [post(id, random.pick([0, 1]))],
      );
      // This answer stays: taken, taken from another request, or the run has ended.
      if (answers.some(({ status }) => status !== null && status < 500)) break;
      await sleep(random.int(200, 1_000));
    }
    if (cancels) await act(world, owner, 'resume', runId);
  },
};
