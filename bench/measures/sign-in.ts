import { Agent, request } from 'undici';
import { createCall } from '#bench/api-client.ts';
import { atMost, compare, type Result } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { median, pause, percentile } from '#bench/statistics.ts';

const floodRounds = 4;
const floodMs = 3_000;
const attackers = 50;

/** One read of the workspace; returns how long it took, in ms. */
type TimedRead = () => Promise<number>;

/** The effect of a flood of wrong passwords on other requests. */
export async function signIn({ apiUrl }: Stack): Promise<Result[]> {
  const key = { name: 'Bench', role: 'admin' };
  const { secret } = await createCall(apiUrl)<{ secret: string }>('POST', '/api/keys', key);
  const dispatcher = new Agent({ connections: 1 });
  const read: TimedRead = async () => {
    const started = performance.now();
    const headers = { 'x-api-key': secret };
    const answer = await request(`${apiUrl}/api/workspace`, { dispatcher, headers });
    await answer.body.dump();
    if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}`);
    return performance.now() - started;
  };
  try {
    return [await flood(apiUrl, read)];
  } finally {
    await dispatcher.close();
  }
}

/** The same read, sequentially, with and without fifty connections that constantly try wrong passwords. */
async function flood(apiUrl: string, read: TimedRead): Promise<Result> {
  const quiet: number[] = [];
  const flooded: number[] = [];
  let attempts = 0;
  for (let round = 0; round < floodRounds; round += 1) {
    quiet.push(...(await timeFor(floodMs, read)));
    const stop = new AbortController();
    const attack = Array.from({ length: attackers }, (_, at) =>
      tryWrongPasswords(apiUrl, { round, at }, stop.signal),
    );
    await pause(300);
    flooded.push(...(await timeFor(floodMs, read)));
    stop.abort();
    for (const made of await Promise.all(attack)) attempts += made;
  }
  const [before, during] = [percentile(quiet, 95), percentile(flooded, 95)];
  return compare({
    measure: `p95 of other requests during ${attackers} concurrent wrong passwords / without`,
    unit: 'ms',
    ours: { median: during, samples: flooded.length },
    baseline: { median: before, samples: quiet.length },
    bound: atMost(2),
    notes: [
      `medians ${median(flooded).toFixed(2)} / ${median(quiet).toFixed(2)} ms; ${attempts} attempts answered 401 or 429`,
    ],
  });
}

async function timeFor(ms: number, read: TimedRead): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + ms;
  while (performance.now() < end) times.push(await read());
  return times;
}

/** Each attacker uses its own address and account, so that its attempts are hashed for as long as possible. */
async function tryWrongPasswords(
  apiUrl: string,
  { round, at }: { round: number; at: number },
  signal: AbortSignal,
): Promise<number> {
  const dispatcher = new Agent({
    connections: 1,
    localAddress: `127.${round + 1}.0.${at + 1}`,
  });
  let attempts = 0;
  while (!signal.aborted) {
    const answer = await request(`${apiUrl}/api/auth/login`, {
      dispatcher,
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ email: `${round}.${at}.${attempts}@localhost`, password: 'wrong' }),
    });
    await answer.body.dump();
    if (answer.statusCode !== 401 && answer.statusCode !== 429) {
      throw new Error(`a wrong password answered ${answer.statusCode}`);
    }
    attempts += 1;
  }
  await dispatcher.close();
  return attempts;
}
