import pg from 'pg';
import { Agent, request } from 'undici';
import { connectDatabase } from '#shared/db/pool.ts';
import { readOwnerAccount, setPassword } from '#shared/db/people/sign-ins.ts';
import { hashPassword } from '#shared/platform/secrets/passwords.ts';
import { atMost, compare, figure, type Result } from '#bench/result.ts';
import type { Stack } from '#bench/stack.ts';
import { median, pause, percentile } from '#bench/statistics.ts';

const samples = 2_000;
const warmUp = 300;
const floodRounds = 4;
const floodMs = 3_000;
const attackers = 50;
const password = 'the password of the bench';

/** The cost of authentication, and the effect of a flood of wrong passwords on other requests. */
export async function signIn(stack: Stack): Promise<Result[]> {
  const ownerId = await givePassword(stack.databaseUrl);
  const client = caller(stack.apiUrl);
  try {
    const { token, member } = await client.post<{ token: string; member: { email: string } }>(
      '/api/auth/login',
      { email: 'owner@localhost', password },
    );
    const { secret } = await client.post<{ secret: string }>('/api/keys', {
      name: 'Bench',
      role: 'admin',
    });
    const credentials = {
      'an API key': { 'x-api-key': secret },
      'a session token': { authorization: `Bearer ${token}` },
    };
    const added = await compareCredentials(stack, ownerId, client, credentials);
    return [...added, await flood(stack.apiUrl, client, member.email, credentials['an API key'])];
  } finally {
    await client.close();
  }
}

async function givePassword(databaseUrl: string): Promise<string> {
  const db = await connectDatabase(databaseUrl, { maxPoolSize: 1 });
  try {
    const owner = await readOwnerAccount(db);
    if (owner === undefined) throw new Error('there is no owner');
    const passwordHash = await hashPassword(password);
    await setPassword(db, { memberId: owner.id, passwordHash, onlyFirst: false });
    return owner.id;
  } finally {
    await db.end();
  }
}

type Headers = Record<string, string>;

interface Caller {
  post<T>(path: string, body: unknown): Promise<T>;
  /** The duration of one read of the workspace, in ms. */
  time(headers: Headers): Promise<number>;
  close(): Promise<void>;
}

function caller(url: string): Caller {
  const dispatcher = new Agent({ connections: 1 });
  return {
    post: async <T>(path: string, body: unknown) => {
      const answer = await request(`${url}${path}`, {
        dispatcher,
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(body),
      });
      const text = await answer.body.text();
      if (answer.statusCode >= 300) throw new Error(`${path} answered ${answer.statusCode}`);
      return JSON.parse(text) as T;
    },
    time: async (headers) => {
      const started = performance.now();
      const answer = await request(`${url}/api/workspace`, { dispatcher, headers });
      await answer.body.dump();
      if (answer.statusCode !== 200) throw new Error(`answered ${answer.statusCode}`);
      return performance.now() - started;
    },
    close: () => dispatcher.close(),
  };
}

/**
 * Alternates the same request with each credential and, since the service runs open, with none; and a bare statement
 * that finds one row by its key.
 */
async function compareCredentials(
  { databaseUrl }: Stack,
  ownerId: string,
  client: Caller,
  credentials: Record<string, Headers>,
): Promise<Result[]> {
  const database = new pg.Client({ connectionString: databaseUrl });
  await database.connect();
  const select = {
    name: 'bare',
    text: 'SELECT name FROM members WHERE id = $1',
    values: [ownerId],
  };
  const times: Record<string, number[]> = { none: [], select: [] };
  for (let round = 0; round < samples + warmUp; round += 1) {
    const note = (what: string, ms: number): void => {
      if (round >= warmUp) (times[what] ??= []).push(ms);
    };
    const started = performance.now();
    await database.query(select);
    note('select', performance.now() - started);
    note('none', await client.time({}));
    for (const [what, headers] of Object.entries(credentials)) {
      note(what, await client.time(headers));
    }
  }
  await database.end();
  const none = median(times['none'] ?? []);
  return Object.keys(credentials).map((what) => {
    const added = (times[what] ?? []).map((ms) => ms - none);
    return compare({
      measure: `what ${what} adds to a request / one bare indexed SELECT`,
      unit: 'ms',
      ours: { median: median(added), samples },
      baseline: figure(times['select'] ?? []),
      bound: atMost(3, 1.5),
      notes: [`the request without a credential: ${none.toFixed(2)} ms`],
    });
  });
}

/** The same read, sequentially, with and without fifty connections that constantly try wrong passwords. */
async function flood(
  apiUrl: string,
  client: Caller,
  email: string,
  headers: Headers,
): Promise<Result> {
  const quiet: number[] = [];
  const flooded: number[] = [];
  let attempts = 0;
  for (let round = 0; round < floodRounds; round += 1) {
    quiet.push(...(await timeFor(floodMs, client, headers)));
    const stop = new AbortController();
    const attack = Array.from({ length: attackers }, (_, at) =>
      tryWrongPasswords(apiUrl, email, { round, at }, stop.signal),
    );
    await pause(300);
    flooded.push(...(await timeFor(floodMs, client, headers)));
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

async function timeFor(ms: number, client: Caller, headers: Headers): Promise<number[]> {
  const times: number[] = [];
  const end = performance.now() + ms;
  while (performance.now() < end) times.push(await client.time(headers));
  return times;
}

/** Each attacker uses its own address and account, so that its attempts are hashed for as long as possible. */
async function tryWrongPasswords(
  apiUrl: string,
  email: string,
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
      body: JSON.stringify({ email: `${round}.${at}.${attempts}.${email}`, password: 'wrong' }),
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
