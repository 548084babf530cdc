import packageJson from '#package.json' with { type: 'json' };
import { type Health, healthSchema } from '#shared/contract/health.ts';
import { missingMigrations } from '#shared/db/migrate.ts';
import { type Db, ping } from '#shared/db/pool.ts';
import type { App, RouteContext } from '#api/deps.ts';

/** The route is public, so frequent requests must not cost more than rare ones. */
const CACHE_MS = 500;
const DATABASE_PATIENCE_MS = 2_000;

export function healthRoutes(app: App, context: RouteContext): void {
  const check = cached(() => takePulse(context));

  app.get('/api/health', {
    schema: {
      operationId: 'getHealth',
      summary: 'Read the state of the service, always with 200',
      response: { 200: healthSchema },
    },
    config: { capability: 'public' },
    handler: check,
  });

  app.get('/api/ready', {
    schema: {
      operationId: 'getReadiness',
      summary: 'Read whether the service can accept and execute runs; 503 until it can',
      response: { 200: healthSchema, 503: healthSchema },
    },
    config: { capability: 'public' },
    handler: async (_request, reply) => {
      const health = await check();
      return reply.code(health.status === 'ok' ? 200 : 503).send(health);
    },
  });
}

function cached<T>(take: () => Promise<T>): () => Promise<T> {
  let last: { value: Promise<T>; until: number } | undefined;
  return async () => {
    if (last === undefined || last.until < Date.now()) {
      last = { value: take(), until: Date.now() + CACHE_MS };
    }
    return last.value;
  };
}

async function takePulse({ db, temporal }: RouteContext): Promise<Health> {
  const [database, execution] = await Promise.all([
    within(DATABASE_PATIENCE_MS, askDatabase(db)),
    temporal.health(),
  ]);
  const holds = {
    database: database !== undefined,
    temporal: execution.temporal,
    worker: execution.worker,
    migrations: database?.migrated ?? false,
  };
  const word = (ok: boolean) => (ok ? ('ok' as const) : ('down' as const));
  return {
    status: Object.values(holds).every(Boolean) ? 'ok' : 'degraded',
    version: packageJson.version,
    checks: {
      database: word(holds.database),
      temporal: word(holds.temporal),
      worker: word(holds.worker),
      migrations: word(holds.migrations),
    },
  };
}

/** Undefined when the database does not respond. */
async function askDatabase(db: Db): Promise<{ migrated: boolean } | undefined> {
  try {
    await ping(db);
  } catch {
    return undefined;
  }
  try {
    return { migrated: (await missingMigrations(db)).length === 0 };
  } catch {
    return { migrated: false };
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T | undefined> {
  const { promise, resolve } = Promise.withResolvers<undefined>();
  const timer = setTimeout(() => resolve(undefined), ms);
  try {
    return await Promise.race([work, promise]);
  } finally {
    clearTimeout(timer);
  }
}
