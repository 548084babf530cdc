import type { InjectOptions } from 'fastify';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { connectDatabase, type Pool } from '#shared/db/pool.ts';
import { ensureDefaultWorkspace } from '#shared/db/people/workspaces.ts';
import type { Json } from '#shared/json.ts';
import { findRunnable } from '#shared/operations/runs/find-runnable.ts';
import { type Config, loadConfig } from '#shared/platform/config.ts';
import { createLogger, type Logger } from '#shared/platform/logger.ts';
import {
  connectTemporal,
  registerSearchAttributes,
  type TemporalLink,
} from '#shared/platform/temporal.ts';
import { createTestDatabase } from '#test/support/database.ts';
import { useStage } from '#test/support/stage.ts';
import { testTemporal } from '#test/support/temporal.ts';

export interface Answer {
  status: number;
  headers: Record<string, string | string[] | number | undefined>;
  text: string;
  // Tests read responses of every shape.
  body: any;
}

export interface TestApi {
  app: App;
  db: Pool;
  config: Config;
  temporal: TemporalLink;
  log: Logger;
  databaseUrl: string;
  workspaceId: string;
  /** Sends a request through the whole application, without a socket. */
  call(
    method: string,
    url: string,
    payload?: unknown,
    headers?: Record<string, string>,
  ): Promise<Answer>;
  send(options: InjectOptions): Promise<Answer>;
  /** A second instance of the service, in this process. Close it before `stop`. */
  another(): Promise<{ app: App; call: TestApi['call'] }>;
  stop(): Promise<void>;
}

/** The application on a new database, with the Temporal test server and no worker. */
export async function startTestApi(env: Record<string, string> = {}): Promise<TestApi> {
  const database = await createTestDatabase();
  const { address, taskQueuePrefix } = testTemporal();
  const config = loadConfig({
    DATABASE_URL: database.url,
    TEMPORAL_ADDRESS: address,
    TEMPORAL_UI_URL: 'http://127.0.0.1:8233',
    TASK_QUEUE_PREFIX: taskQueuePrefix,
    API_PORT: '0',
    ...env,
  });
  const log = createLogger({ name: 'test', level: 'silent' });
  const db = await connectDatabase(database.url, { maxPoolSize: 5 });
  const temporal = connectTemporal(config, db);
  await registerSearchAttributes(temporal, log);
  const workspaceId = await ensureDefaultWorkspace(db, { ownerEmail: config.auth.ownerEmail });
  const another = async () => {
    const other = buildApp({ db, temporal, log, config, findRunnable });
    await other.ready();
    return { app: other, call: callerOf(other) };
  };
  const { app, call } = await another();
  return {
    app,
    db,
    config,
    temporal,
    log,
    databaseUrl: database.url,
    workspaceId,
    call,
    send: async (options) => toAnswer(await app.inject(options)),
    another,
    stop: async () => {
      await app.close();
      await temporal.close();
      await db.end();
      await database.drop();
    },
  };
}

/** The same for all tests of a file. */
export const useTestApi = (env?: Record<string, string>): TestApi =>
  useStage(
    () => startTestApi(env),
    (api) => api.stop(),
  );

/** Sends requests through an application without a socket. */
export const callerOf =
  (app: App): TestApi['call'] =>
  async (method, url, payload, headers) =>
    toAnswer(
      await app.inject({
        method: method as 'GET',
        url,
        headers: {
          ...(payload === undefined ? {} : { 'content-type': 'application/json' }),
          ...headers,
        },
        ...(payload === undefined ? {} : { payload: JSON.stringify(payload) }),
      }),
    );

function toAnswer(response: Awaited<ReturnType<App['inject']>>): Answer {
  const type = response.headers['content-type'] ?? '';
  return {
    status: response.statusCode,
    headers: response.headers as Answer['headers'],
    text: response.body,
    body: type.startsWith('application/json') && response.body !== '' ? response.json() : undefined,
  };
}

/** A graph of one model step. */
export const oneStep: Json = {
  nodes: [{ id: 'answer', kind: 'agent', prompt: 'Answer {ticket}' }],
  edges: [],
};
