import fastify from 'fastify';
import type { CommonQueryMethods, QuerySqlToken } from 'slonik';
import { z } from 'zod';
import { connectDatabase, sql } from '#shared/db/pool.ts';
import { listEntities } from '#shared/db/data/entities.ts';
import { readRun } from '#shared/db/runs/runs.ts';
import { readDefaultOwner } from '#shared/db/people/workspaces.ts';
import { loadConfig } from '#shared/platform/config.ts';

// The baselines of reading a run, listing records and deduplicating events, with the statements of readRun and
// listEntities: no authentication, no validation, no response schema.

const config = loadConfig();
if (config.database.url === undefined) throw new Error('DATABASE_URL is not set');
const db = await connectDatabase(config.database.url, { maxPoolSize: config.database.poolSize });
const owner = await readDefaultOwner(db);
if (owner === undefined) throw new Error('There is no workspace yet');
const { workspaceId } = owner;

const scope = (runId: string) => ({
  workspaceId,
  runId,
  temporalUiUrl: config.temporal.uiUrl,
  temporalNamespace: 'default',
});

/** Captures the statement that a read sends, so that the baseline always uses the current one. */
async function statementOf(
  read: (recorder: CommonQueryMethods) => Promise<unknown>,
): Promise<QuerySqlToken> {
  let statement: QuerySqlToken | undefined;
  const record = (query: QuerySqlToken): void => {
    statement = query;
  };
  const recorder = {
    maybeOne: async (query: QuerySqlToken) => {
      record(query);
      return null;
    },
    any: async (query: QuerySqlToken) => {
      record(query);
      return [];
    },
  };
  await read(recorder as unknown as CommonQueryMethods);
  if (statement === undefined) throw new Error('The read sent no statement');
  return statement;
}

const app = fastify();
app.get<{ Params: { id: string } }>('/row/:id', async (request) =>
  db.maybeOne(await statementOf((recorder) => readRun(recorder, scope(request.params.id)))),
);
app.get<{ Params: { id: string } }>('/record/:id', async (request) =>
  readRun(db, scope(request.params.id)),
);
app.get<{ Params: { workspace: string } }>('/entities/:workspace', async (request) => {
  const reader = { workspaceId: request.params.workspace, isDemo: false };
  const page = { limit: 25, after: undefined };
  return db.any(await statementOf((recorder) => listEntities(recorder, reader, {}, page)));
});
app.post<{ Params: { workflow: string; event: string } }>(
  '/event/:workflow/:event',
  async (request) => {
    const { workflow, event } = request.params;
    const { rowCount } = await db.query(sql.prepared('bare_event', z.object({}))`
      INSERT INTO webhook_events (workflow_id, event_id, run_id) VALUES (${workflow}, ${event}, 'bare')
      ON CONFLICT DO NOTHING
    `);
    return { run_id: 'bare', status: rowCount === 1 ? 'pending' : 'duplicate' };
  },
);
await app.listen({ host: '127.0.0.1', port: config.api.port });
process.send?.({ ready: true });

async function stop(): Promise<void> {
  await app.close();
  await db.end();
  process.exit(0);
}
for (const signal of ['SIGINT', 'SIGTERM', 'disconnect'] as const) {
  process.once(signal, () => void stop());
}
