import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { buildApp } from '#api/app.ts';
import type { App } from '#api/deps.ts';
import { dataScopeNames } from '#shared/contract/data/envelope.ts';
import { withClient } from '#shared/db/pool.ts';
import { mutationEnv, mutations } from '#test/api/contract/mutations.ts';
import { readEverything } from '#test/api/contract/reads.ts';
import { callerOf } from '#test/api/test-api.ts';
import { type Engine, startEngine } from '#test/support/engine.ts';

// The next version adds columns while this version runs. Its connections keep the plans of their statements, and Postgres
// refuses a plan whose rows would change ("cached plan must not change result type").

let engine: Engine;
let app: App;
/** The key of the data API. */
let secret: string;

beforeAll(async () => {
  engine = await startEngine({ env: mutationEnv });
  app = buildApp(engine.deps);
  await app.ready();
  const key = { name: 'Key of the test', mode: 'live', scopes: dataScopeNames };
  secret = (await call('POST', '/api/data/keys', key)).secret;
}, 60_000);
afterAll(async () => {
  await app.close();
  await engine.close();
});

async function call(
  method: string,
  url: string,
  payload?: unknown,
  token?: string,
  headers: Record<string, string> = {},
): Promise<any> {
  const credential = token ?? (url.startsWith('/v1/') ? secret : undefined);
  const answer = await callerOf(app)(method, url, payload, {
    ...(credential === undefined ? {} : { authorization: `Bearer ${credential}` }),
    ...headers,
  });
  if (answer.status >= 300) throw new Error(`${method} ${url}: ${answer.status} ${answer.text}`);
  return answer.body;
}

/** Calls every route, so that the connections have the plans of their statements. */
async function callEverything(): Promise<void> {
  const context = {
    workspaceId: engine.actor.workspaceId,
    db: engine.db,
    call,
    until: async (runId: string, status: 'paused' | 'success' | 'failed') => {
      await engine.until(runId, [status]);
    },
  };
  const failed: string[] = [];
  for (const [route, prepare] of Object.entries(mutations)) {
    try {
      const { url, body, token, headers } = await prepare(context);
      await call(route.slice(0, route.indexOf(' ')), url, body, token, headers);
    } catch (error) {
      failed.push(`${route}: ${String(error)}`);
    }
  }
  expect(failed).toEqual([]);
  const documents = [await call('GET', '/api/openapi.json'), await call('GET', '/v1/openapi.json')];
  const routes = documents.flatMap(({ paths }) =>
    Object.keys(paths).flatMap((path) =>
      Object.keys(paths[path]).map((method) => `${method.toUpperCase()} ${path}`),
    ),
  );
  expect(await readEverything(call, routes)).toBeGreaterThan(100);
}

/** Adds a column to every table, as the migration of a next version can. */
const addColumns = (): Promise<void> =>
  withClient(engine.databaseUrl, async (client) => {
    const { rows } = await client.query<{ name: string }>(
      `SELECT c.oid::regclass::text AS name FROM pg_class c
       WHERE c.relnamespace = 'public'::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition`,
    );
    expect(rows.length).toBeGreaterThan(50);
    for (const { name } of rows) {
      await client.query(`ALTER TABLE ${name} ADD COLUMN of_next_version text DEFAULT 'new'`);
    }
  });

test('every route works on connections from before a column was added to every table', async () => {
  await callEverything();
  await addColumns();
  await callEverything();
}, 120_000);
