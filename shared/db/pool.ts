import pg from 'pg';
import {
  type CommonQueryMethods,
  createPool,
  type DatabasePool,
  type DatabaseTransactionConnection,
  type Interceptor,
  SchemaValidationError,
  sql,
} from 'slonik';
import { z } from 'zod';
import { AppError } from '#shared/errors.ts';
import { storedTime } from '#shared/time.ts';
import { committed } from './commit-outcome.ts';

/** Runs statements: either the pool, or the caller's transaction. */
export type Db = CommonQueryMethods;
export type Pool = DatabasePool;
export type Tx = DatabaseTransactionConnection;

/** Validates rows against the schema of their statement. */
const parseRows: Interceptor = {
  name: 'parse-rows',
  transformRow: (context, query, row) => {
    const parser = context.resultParser as z.ZodType | undefined;
    if (parser === undefined) return row;
    const parsed = parser.safeParse(row);
    if (!parsed.success) {
      // Omits the row and the values, because errors are logged and these may be hashes or codes.
      const { issues } = parsed.error;
      throw new SchemaValidationError({ ...query, values: [] }, {}, issues as never);
    }
    return parsed.data as typeof row;
  },
};

/**
 * Settings of this service's sessions. Times inside JSON are in the session's time zone; with UTC they need no
 * conversion. Prepared statements keep one generic plan: they find rows by key, and planning each time (which Postgres
 * prefers for statements over `unnest`) costs thirty times their execution.
 */
const SESSION_OPTIONS = '-c TimeZone=UTC -c plan_cache_mode=force_generic_plan';

function withSessionOptions(url: string): string {
  const dsn = new URL(url);
  if (!dsn.searchParams.has('options')) dsn.searchParams.set('options', SESSION_OPTIONS);
  return dsn.href;
}

/** The reason and facts of a statement that called `refuse`; undefined for other errors. */
export function refusalOf(error: unknown): { reason: string; facts: unknown } | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, detail } = cause as { code?: unknown; detail?: unknown };
    if (code !== 'OW001') continue;
    return { reason: cause.message, facts: typeof detail === 'string' ? JSON.parse(detail) : {} };
  }
  return undefined;
}

/** Removes the detail of Postgres errors: it quotes rows, and errors are logged. Refusals keep it, for the caller. */
const quoteNoRows: Interceptor = {
  name: 'quote-no-rows',
  queryExecutionError: (_context, _query, error) => {
    if (refusalOf(error) !== undefined) return null;
    for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
      if ('detail' in cause) cause.detail = undefined;
    }
    return null;
  },
};

/** Errors that leave the connection usable: application errors, and those that a statement raised deliberately. */
const isRefusal = (error: unknown): boolean =>
  error instanceof AppError || refusalOf(error) !== undefined;

/**
 * Slonik closes a connection when its user throws any error. A refusal is an ordinary result: a new connection, and so
 * a new Postgres process, for each would make refused requests the most expensive ones.
 */
function keepRefusals(pool: DatabasePool): DatabasePool {
  const connect: DatabasePool['connect'] = async (work) => {
    let refusal: { error: unknown } | undefined;
    const result = await pool.connect(async (connection) => {
      try {
        return await work(connection);
      } catch (error) {
        if (!isRefusal(error)) throw error;
        refusal = { error };
        return undefined;
      }
    });
    if (refusal !== undefined) throw refusal.error;
    return result as Awaited<ReturnType<typeof work>>;
  };
  const overrides: Partial<DatabasePool> = {
    connect,
    transaction: (work, retries) =>
      committed(
        pool,
        (certain: typeof work) => connect((connection) => connection.transaction(certain, retries)),
        work,
      ),
    maybeOne: (statement) => connect((connection) => connection.maybeOne(statement)),
  };
  return new Proxy(pool, {
    get: (target, key, receiver): unknown =>
      Reflect.get(overrides, key) ?? Reflect.get(target, key, receiver),
  });
}

/**
 * The pool of a process. Returns `timestamptz` as ISO 8601 UTC with milliseconds, `bigint` and `numeric` as numbers
 * (every bigint here is a count or micro-dollars, far below 2^53).
 */
export async function connectDatabase(
  url: string,
  options: { maxPoolSize?: number } = {},
): Promise<Pool> {
  const pool = await createPool(withSessionOptions(url), {
    maxPoolSize: options.maxPoolSize ?? 10,
    connectionTimeout: 5_000,
    idleTimeout: 60_000,
    statementTimeout: 30_000,
    idleInTransactionSessionTimeout: 30_000,
    // By default, DISCARD ALL is sent when a connection is released, which costs a round trip per statement and drops
    // prepared statements. This service leaves no state in a session.
    resetConnection: async () => undefined,
    interceptors: [parseRows, quoteNoRows],
    typeParsers: [
      { name: 'timestamptz', parse: storedTime },
      { name: 'int8', parse: Number },
      { name: 'numeric', parse: Number },
    ],
  });
  return keepRefusals(pool);
}

/** Runs an empty statement. Rejects when the database does not respond. */
export async function ping(db: Db): Promise<void> {
  await db.query(sql.type(z.object({}))`SELECT`);
}

/**
 * Select this in a statement to set whether its commit waits for the disk. It need not wait if the write is repeated
 * with the same effect after a crash of the database server has lost it. Every later commit that waits also flushes it.
 */
export const syncCommit = (wait: boolean) =>
  sql.fragment`set_config('synchronous_commit', ${wait ? 'on' : 'off'}, true)`;

/** Runs `work` in one read-only snapshot: its statements do not see concurrent changes. */
export const inSnapshot = <T>(db: Pool, work: (tx: Tx) => Promise<T>): Promise<T> =>
  db.transaction(async (tx) => {
    await tx.query(sql.unsafe`SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY`);
    return work(tx);
  });

/** A value as JSON; null becomes SQL NULL. */
export const jsonOrNull = (value: unknown) =>
  sql.fragment`${value == null ? null : JSON.stringify(value)}::json`;

export type { FragmentSqlToken, QuerySqlToken } from 'slonik';
export { sql };
export { statement } from './statement.ts';

/**
 * Runs `work` on a separate connection, and closes it. If the connection is lost between two statements, the next one
 * fails; without a listener, the loss would end the process.
 */
export async function withClient<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  client.on('error', () => undefined);
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
