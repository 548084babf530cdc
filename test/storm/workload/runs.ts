import { setTimeout as sleep } from 'node:timers/promises';
import type { Person } from '#test/storm/people.ts';
import type { Random } from '#test/storm/random.ts';
import type { Feature, World } from '#test/storm/world.ts';
import { type GraphName, selfRunning } from './graphs.ts';

export const anybody = (world: World, random: Random): Person =>
  random.pick([world.people.owner, world.people.colleague, world.people.program]);

/**
 * Starts a run, usually with a key and then with retries until a response; sometimes twice at once. Undefined if no
 * attempt was acknowledged.
 */
export async function start(
  world: World,
  random: Random,
  graph: GraphName,
  id: string,
  input: object = {},
): Promise<string | undefined> {
  const person = anybody(world, random);
  const workflowId = world.workflows[graph];
  const key = random.chance(0.85) ? `key-${id}` : undefined;
  const send = (via?: 0 | 1) =>
    world.caller.act(
      person,
      'trigger',
      {
        method: 'POST',
        path: `/api/workflows/${workflowId}/runs`,
        body: { act: id, ...input },
        ...(key === undefined ? {} : { headers: { 'idempotency-key': key } }),
        ...(via === undefined ? {} : { via }),
      },
      { workflowId, nonce: id, key: key ?? null },
    );
  const several = key !== undefined && random.chance(0.25);
  for (let tries = 0; tries < 6; tries += 1) {
    const answers = several && tries === 0 ? await Promise.all([send(0), send(1)]) : [await send()];
    const told = answers.find(({ outcome }) => outcome === 'acknowledged');
    if (told !== undefined) return told.body.run_id;
    // Without a key, a retry could start a second run.
    if (key === undefined) return undefined;
    await sleep(random.int(200, 1_200));
  }
  return undefined;
}

/** Reads the run until it is in one of these states; undefined after the timeout. */
export async function until(
  world: World,
  runId: string,
  statuses: readonly string[],
  timeoutMs: number,
): Promise<any> {
  const deadline = Date.now() + timeoutMs;
  while (Date.now() < deadline && world.running()) {
    const answer = await world.caller.read(world.people.owner, `/api/runs/${runId}`, 8_000);
    if (answer?.status === 200 && statuses.includes(answer.body.status)) return answer.body;
    await sleep(300);
  }
  return undefined;
}

export const act = (
  world: World,
  person: Person,
  kind: 'cancel' | 'resume',
  runId: string,
  via?: 0 | 1,
) =>
  world.caller.act(
    person,
    kind,
    { method: 'POST', path: `/api/runs/${runId}/${kind}`, ...(via === undefined ? {} : { via }) },
    { runId },
  );

/** Runs of all kinds, sometimes followed over sockets. */
export const plainRuns: Feature = {
  name: 'runs',
  weight: 30,
  run: async (world, random, id) => {
    const runId = await start(world, random, random.pick(selfRunning), id);
    if (runId === undefined) return;
    if (random.chance(0.4) && world.follower.count() < 60) {
      world.follower.follow(random.pick([world.people.owner, world.people.colleague]), runId);
    }
    if (random.chance(0.5)) await until(world, runId, ['success', 'failed'], 8_000);
  },
};

/** Steps that fail, resumed until they succeed, sometimes by two at once. */
export const failures: Feature = {
  name: 'failures',
  weight: 12,
  run: async (world, random, id) => {
    const runId = await start(world, random, 'flaky', id);
    if (runId === undefined) return;
    for (let resumes = 0; resumes < 4 && world.running(); resumes += 1) {
      const run = await until(world, runId, ['success', 'failed'], 15_000);
      if (run?.status !== 'failed') return;
      const { owner, colleague } = world.people;
      await (random.chance(0.3)
        ? Promise.all([
            act(world, owner, 'resume', runId, 0),
            act(world, colleague, 'resume', runId, 1),
          ])
        : act(world, owner, 'resume', runId));
    }
  },
};

/** Runs that are canceled midway, sometimes by two at once, and then resumed. */
export const cancels: Feature = {
  name: 'cancels',
  weight: 14,
  run: async (world, random, id) => {
    const runId = await start(world, random, random.pick(['slow', 'slow', 'fan', 'looped']), id);
    if (runId === undefined) return;
    const { owner, colleague } = world.people;
    for (let rounds = random.int(1, 3); rounds > 0 && world.running(); rounds -= 1) {
      await sleep(random.int(0, 2_500));
      await (random.chance(0.3)
        ? Promise.all([
            act(world, owner, 'cancel', runId, 0),
            act(world, colleague, 'cancel', runId, 1),
          ])
        : act(world, colleague, 'cancel', runId));
      await sleep(random.int(0, 1_500));
      if (random.chance(0.8)) await act(world, owner, 'resume', runId);
    }
  },
};
