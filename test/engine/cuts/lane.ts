import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { connectDatabase, type Pool, sql } from '#shared/db/pool.ts';
import { describeCurrent } from '#shared/operations/runs/executions.ts';
import { type Act, createActs } from '#test/storm/actions.ts';
import { type Outside, startOutside } from '#test/storm/effects.ts';
import { keepJournal } from '#test/storm/journal.ts';
import {
  type Evidence,
  type Execution,
  readApi,
  readStored,
  type RunRow,
} from '#test/storm/oracle/evidence.ts';
import { judge, type Violation } from '#test/storm/oracle/index.ts';
import { type Answer, createCaller, type Person, type Request } from '#test/storm/people.ts';
import { createRandom } from '#test/storm/random.ts';
import { readRestless } from '#test/storm/rest.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { type Engine, eventually, startEngine } from '#test/support/engine.ts';
import { type PostgresWire, startPostgresWire } from '#test/support/postgres-wire.ts';
import { patiently } from '#test/support/patience.ts';
import { serveApi } from '#test/support/served-api.ts';

/** A request, as the oracle knows it: see `Act`. */
interface Change extends Request {
  kind: string;
  about?: Act['about'];
  /** Without a credential. */
  anonymous?: boolean;
}

/** The service in this process, with one proxy between it and Postgres, and a client that calls its API. */
export interface Lane {
  wire: PostgresWire;
  /** Bypasses the proxy. */
  db: Pool;
  engine: Engine;
  outside: Outside;
  owner: Person;
  /**
   * A request that changes something: it is recorded for the oracle, and sent again after a 503, unless that says that the
   * change was saved and the request has no key. Returns the body of a success, or undefined where it was saved; throws for
   * any other response.
   */
  act(change: Change | ((tries: number) => Change)): Promise<any>;
  /** Creates something that scenarios need. */
  create(path: string, body: object): Promise<any>;
  /** A read through the API, repeated after a 503. */
  read(path: string): Promise<any>;
  /** Starts a run with the key `key-<id>` and the input `{act: id}`. Returns its id. */
  start(workflowId: string, id: string): Promise<string>;
  /** The keys of the calls that a run's steps have made, sorted. */
  effectsOf(runId: string): string[];
  /** What a run has cost, in micro-dollars. */
  costOf(runId: string): Promise<number>;
  /** The types of the events about a run that the endpoint received, each once, sorted. */
  eventsOf(runId: string): string[];
  /** Approves or rejects what the run waits for. */
  decide(
    runId: string,
    nodeId: string,
    body: { approved: boolean; [field: string]: unknown },
  ): Promise<void>;
  /** Waits until the run has one of these statuses, and returns it. */
  until(runId: string, ...statuses: RunRow['status'][]): Promise<RunRow['status']>;
  /** Waits until nothing is in flight. False after the timeout. */
  rest(): Promise<boolean>;
  /** Compares everything with the guarantees of the service. */
  judge(quiet: boolean): Promise<Violation[]>;
  close(): Promise<void>;
}

/** After one lost connection. */
const SETTLE_MS = 20_000;
/** For what hangs. */
const timeoutMs = patiently(10_000);

export async function startLane(): Promise<Lane> {
  const folder = mkdtempSync(join(tmpdir(), 'cuts-'));
  const outside = await startOutside(folder, createRandom('cuts'));
  outside.calm();
  const database = await createTestDatabase();
  await keepJournal(database.url);
  const wire = await startPostgresWire(database.url);
  const engine = await startEngine({
    database: { url: wire.url, drop: database.drop },
    env: {
      ENCRYPTION_KEY: 'a key for the tests alone',
      CHAT_WEBHOOK_URL: outside.chatUrl,
      // The oracle knows this one.
      DELIVERY_BACKOFF_SECONDS: '0.15',
    },
  });
  const api = await serveApi(engine);
  const db = await connectDatabase(database.url, { maxPoolSize: 2 });
  const acts = createActs(folder);
  const caller = createCaller([api.url, api.url], acts, createRandom('caller'));
  const owner: Person = { name: 'owner', id: engine.actor.id, headers: {}, token: undefined };
  const startedAt = Date.now();
  const settled = new Map<string, Execution>();

  const act: Lane['act'] = async (change) => {
    for (let tries = 1; ; tries += 1) {
      const asked = typeof change === 'function' ? change(tries) : change;
      const { kind, about, anonymous, ...request } = asked;
      const person = anonymous === true ? undefined : owner;
      const answer = await caller.act(person, kind, { ...request, timeoutMs }, about);
      if (answer.outcome === 'acknowledged') return answer.body;
      if (answer.status !== 503 || tries === 5) throw refusal(request, answer);
      const saved = String(answer.body?.detail).startsWith('The change was saved');
      if (saved && request.headers?.['idempotency-key'] === undefined) return undefined;
    }
  };
  const read = async (path: string): Promise<any> => {
    for (let tries = 1; ; tries += 1) {
      const answer = await caller.read(owner, path);
      if (answer?.status === 200) return answer.body;
      if (tries === 5) throw refusal({ method: 'GET', path }, answer);
    }
  };
  const until: Lane['until'] = async (runId, ...statuses) => {
    let status: string | undefined;
    await eventually(async () => {
      status = await db.oneFirst(sql.type(z.object({ status: z.string() }))`
        SELECT status FROM runs WHERE id = ${runId}`);
      return statuses.includes(status as RunRow['status']);
    }, SETTLE_MS).catch((error: unknown) => {
      throw new Error(`run ${runId} is ${status}, not ${statuses.join(' or ')}`, { cause: error });
    });
    return status as RunRow['status'];
  };

  const readExecution = async ({ id, status }: RunRow): Promise<Execution | undefined> => {
    const known = settled.get(id);
    if (known !== undefined) return known;
    const current = await describeCurrent(engine.deps, id);
    if (current === undefined) return undefined;
    const execution = { id, type: 'run: x', runId: current.runId, status: current.status };
    if (!current.open && (status === 'success' || status === 'failed')) settled.set(id, execution);
    return execution;
  };

  const collect = async (quiet: boolean): Promise<Evidence> => {
    const db = await readStored(database.url);
    const fresh = db.runs.filter(({ id }) => !settled.has(id)).map(({ id }) => id);
    const executions: Execution[] = [];
    for (const run of db.runs) {
      const found = await readExecution(run);
      if (found !== undefined) executions.push(found);
    }
    return {
      ...{ seed: 'cuts', startedAt, healedAt: Date.now(), takenAt: Date.now(), quiet },
      ...{ acts: acts.all, deaths: [], follows: [], schedules: [], callLimits: {} },
      ...{ effects: outside.effects, received: outside.received },
      ...{ db, executions, api: await readApi(api.url, owner, fresh) },
    };
  };

  const create: Lane['create'] = (path, body) =>
    act({ kind: 'prepare', method: 'POST', path, body });
  // Its quota counts runs, and is large enough.
  const plan = { path: '/api/workspace/plan', body: { plan: 'pro' } };
  await act({ kind: 'prepare', method: 'PUT', ...plan });
  await create('/api/tools', {
    name: 'steady',
    endpoint_url: outside.toolUrl('steady'),
    input_schema: { type: 'object', properties: { act: { type: 'string' } } },
  });

  return {
    ...{ wire, db, engine, outside, owner, act, create, read, until },
    effectsOf: (runId) =>
      outside.effects
        .map(({ key }) => key)
        .filter((key) => key.startsWith(`${runId}:`))
        .map((key) => key.slice(runId.length + 1))
        .sort(),
    costOf: (runId) =>
      db.oneFirst(sql.type(z.object({ cost: z.number() }))`
        SELECT cost_micros AS cost FROM runs WHERE id = ${runId}`),
    eventsOf: (runId) => {
      const own = outside.received.filter(({ body }) => JSON.parse(body).data.run?.id === runId);
      return [...new Map(own.map(({ eventId, type }) => [eventId, type])).values()].sort();
    },
    decide: async (runId, nodeId, { approved, ...rest }) => {
      // The oracle recognizes each request by its reason.
      await act((tries) => {
        const reason = `${runId} ${nodeId} ${tries}`;
        return {
          ...{ kind: 'decide', method: 'POST', path: `/api/runs/${runId}/approve` },
          body: { approved, reason, node_id: nodeId, ...rest },
          about: { runId, nodeId, approved, reason },
        };
      });
    },
    start: async (workflowId, id) => {
      const started = await act({
        ...{ kind: 'trigger', method: 'POST', path: `/api/workflows/${workflowId}/runs` },
        headers: { 'idempotency-key': `key-${id}` },
        body: { act: id },
        about: { workflowId, nonce: id, key: `key-${id}` },
      });
      return started.run_id;
    },
    rest: async () => {
      const isQuiet = async (): Promise<boolean> => {
        const left = await readRestless(database.url);
        if (Object.values(left).some((number) => number > 0)) return false;
        const ended = await db.anyFirst(sql.type(z.object({ id: z.string() }))`
          SELECT id FROM runs WHERE status IN ('success', 'failed')`);
        const open = await Promise.all(
          ended
            .filter((id) => !settled.has(id))
            .map(async (id) => (await describeCurrent(engine.deps, id))?.open === true),
        );
        return !open.includes(true);
      };
      return eventually(isQuiet, SETTLE_MS).then(
        () => true,
        () => false,
      );
    },
    judge: async (quiet) => judge(await collect(quiet)).violations,
    close: async () => {
      await api.stop();
      await db.end();
      await engine.close();
      wire.close();
      await outside.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const refusal = ({ method, path }: { method: string; path: string }, answer?: Answer): Error =>
  new Error(
    `${method} ${path} got ${answer?.status ?? 'no response'}: ${JSON.stringify(answer?.body)}`,
  );
