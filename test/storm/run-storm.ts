import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client } from '@temporalio/client';
import { connectLocally } from '#scripts/stack/temporal.ts';
import type { Claim } from '#scripts/stack/claim.ts';
import { createActs } from './actions.ts';
import { planChaos, runChaos } from './chaos.ts';
import { type Cluster, type Death, startCluster } from './cluster.ts';
import { type Outside, startOutside } from './effects.ts';
import { type Judgment, judge } from './oracle/index.ts';
import { type Evidence, readApi, readExecutions, readStored } from './oracle/evidence.ts';
import { ask, createCaller, type Person } from './people.ts';
import { createRandom } from './random.ts';
import { readProofs } from './oracle/proofs.ts';
import { readRestless } from './rest.ts';
import { createFollower } from './streams.ts';
import { CALL_LIMITS } from './workload/graphs.ts';
import { runWorkload } from './workload/index.ts';
import { furnish, type World } from './world.ts';

export interface StormOptions {
  seed: string;
  seconds: number;
  /** False: the same workload without faults. */
  chaos: boolean;
  /** The Temporal server of the compose file on Postgres instead of the embedded one. */
  composeServer: boolean;
  claim: Claim;
  /** Deadline of the judgment, ms since 1970: work that has not settled by then is a violation. */
  deadline: number;
  /** Called with progress messages, one line each. */
  say(line: string): void;
}

export interface StormResult {
  judgment: Judgment;
  acknowledged: Record<string, number>;
  /** By part and kind. */
  deaths: Record<string, number>;
  runs: number;
}

const HEAL_MS = 25_000;
/** Time to read the evidence. */
const READ_MS = 10_000;
/** Time to verify the evidence of runs. */
const PROVE_MS = 15_000;
/** After the storm, clients only finish their requests in flight, for this long. */
const LAST_ANSWERS_MS = 12_000;

/** One storm, from the start of the first process to the judgment. The caller removes the folder. */
export async function runStorm(options: StormOptions): Promise<StormResult> {
  const { seed, claim, say } = options;
  const random = createRandom(seed);
  const outside = await startOutside(claim.folder, random.fork('outside'));
  const cluster = await startCluster({
    folder: claim.folder,
    claim,
    random: random.fork('cluster'),
    chatWebhookUrl: outside.chatUrl,
    composeServer: options.composeServer,
  });
  process.once('exit', () => cluster.killAll());
  try {
    const evidence = await weather(options, cluster, outside);
    writeFileSync(join(claim.folder, 'evidence.json'), JSON.stringify(evidence));
    const judgment = judge(evidence);
    return {
      judgment,
      acknowledged: count(
        evidence.acts.filter(({ outcome }) => outcome === 'acknowledged').map(({ kind }) => kind),
      ),
      deaths: count(evidence.deaths.map(describeDeath)),
      runs: evidence.db.runs.length,
    };
  } finally {
    say('stopping');
    await cluster.stop();
    await outside.close();
  }
}

const describeDeath = ({ part, how, phase }: Death): string =>
  `${part.replace(/-\d$/, '')}, ${how}${phase === 'starting' && !how.includes('start-up') ? ' in start-up' : ''}`;

function count(names: readonly string[]): Record<string, number> {
  const counts: Record<string, number> = {};
  for (const name of names) counts[name] = (counts[name] ?? 0) + 1;
  return counts;
}

async function weather(
  options: StormOptions,
  cluster: Cluster,
  outside: Outside,
): Promise<Evidence> {
  const { seed, say } = options;
  const random = createRandom(seed);
  const acts = createActs(cluster.folder);
  const caller = createCaller(cluster.apiUrls, acts, random.fork('caller'));
  const follower = createFollower(cluster.apiUrls, caller, random.fork('follower'));
  const fixtures = await furnish(cluster, outside);
  const startedAt = Date.now();
  const over = startedAt + options.seconds * 1_000;
  const world: World = {
    ...fixtures,
    apiUrls: cluster.apiUrls,
    caller,
    acts,
    outside,
    follower,
    terminate: (runId) => terminate(cluster.temporalAddress, runId),
    running: () => Date.now() < over,
  };
  say(`the storm begins: ${options.seconds} s, seed ${seed}`);
  const mishaps = options.chaos ? planChaos(random.fork('chaos'), options.seconds * 1_000) : [];
  const ending = AbortSignal.timeout(options.seconds * 1_000);
  const working = runWorkload(world, random.fork('workload'));
  await Promise.all([
    runChaos(cluster, mishaps, ending),
    Promise.race([working, sleep(options.seconds * 1_000)]),
  ]);
  say(`healing; ${cluster.deaths.length} deaths so far, ${acts.all.length} acts`);
  outside.calm();
  const healed = await cluster.heal(HEAL_MS);
  if (!healed) say('not every part came up again in time');
  await stopSchedules(cluster.directApiUrl, fixtures.people.owner, fixtures.schedules);
  await Promise.race([working, sleep(LAST_ANSWERS_MS)]);
  const healedAt = Date.now();
  const quiet = await comeToRest(cluster, options.deadline - READ_MS, say);
  const follows = follower.follows;
  await follower.stop();
  // Read last: until here, followers could still call the API.
  const db = await readStored(cluster.databaseUrl);
  return {
    seed,
    startedAt,
    healedAt,
    takenAt: Date.now(),
    quiet,
    acts: acts.all,
    deaths: cluster.deaths,
    effects: outside.effects,
    received: outside.received,
    follows,
    schedules: fixtures.schedules,
    callLimits: CALL_LIMITS,
    db,
    executions: await readExecutions(cluster.temporalAddress),
    api: await readApi(
      cluster.directApiUrl,
      fixtures.people.owner,
      db.runs.map(({ id }) => id),
    ),
    proofs: await readProofs(cluster.directApiUrl, fixtures.people.owner, {
      ...{ runs: db.runs, until: Date.now() + PROVE_MS },
    }),
  };
}

/** On a new connection, since the server may have restarted. */
async function terminate(address: string, runId: string): Promise<void> {
  const connection = await connectLocally(address, 2_000);
  try {
    await connection.withDeadline(Date.now() + 3_000, () =>
      new Client({ connection }).workflow.getHandle(runId).terminate('the storm'),
    );
  } finally {
    await connection.close();
  }
}

/** No run can begin between two reads of the evidence. */
async function stopSchedules(
  apiUrl: string,
  owner: Person,
  schedules: World['schedules'],
): Promise<void> {
  for (const { id } of schedules) {
    for (let tries = 0; tries < 20; tries += 1) {
      const path = `/api/schedules/${id}`;
      const answer = await ask(apiUrl, owner, { method: 'PUT', path, body: { enabled: false } });
      if (answer.outcome === 'acknowledged') break;
      await sleep(500);
    }
  }
}

/** Waits until nothing is in flight. False after the deadline. */
async function comeToRest(
  cluster: Cluster,
  deadline: number,
  say: (line: string) => void,
): Promise<boolean> {
  let last = '';
  for (;;) {
    const left = await readRestless(cluster.databaseUrl);
    const open = Object.entries(left).filter(([, number]) => number > 0);
    if (open.length === 0) return true;
    const text = open.map(([name, number]) => `${number} ${name}`).join(', ');
    if (text !== last) say(`waiting for ${text}`);
    last = text;
    if (Date.now() > deadline) {
      return left['runs'] === 0 && left['promises'] === 0 && left['unsealed'] === 0;
    }
    await sleep(1_000);
  }
}
