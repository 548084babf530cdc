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
import { AppError } from '../errors.ts';
import { storedTime } from '../time.ts';
import { committed } from './commit-outcome.ts';

/** Anything that runs statements: the pool, or a transaction the caller owns. */
export type Db = CommonQueryMethods;
export type Pool = DatabasePool;
export type Tx = DatabaseTransactionConnection;

/** Rows are checked against the schema that stands beside their statement. */
const parseRows: Interceptor = {
  name: 'parse-rows',
  transformRow: (context, query, row) => {
    const parser = context.resultParser as z.ZodType | undefined;
    if (parser === undefined) return row;
    const parsed = parser.safeParse(row);
    if (!parsed.success) {
      // Without the row and the values: errors are logged, and these may be hashes and codes.
      const { issues } = parsed.error;
      throw new SchemaValidationError({ ...query, values: [] }, {}, issues as never);
    }
    return parsed.data as typeof row;
  },
};

/**
 * Settings of this service's sessions. Times inside JSON are in the session's time zone; with UTC they need no
 * arithmetic. Prepared statements keep one generic plan: they find rows by key, and planning each time (which Postgres
 * prefers for statements over `unnest`) costs thirty times their execution.
 */
const SESSION_OPTIONS = '-c TimeZone=UTC -c plan_cache_mode=force_generic_plan';

function withSessionOptions(url: string): string {
  const dsn = new URL(url);
  if (!dsn.searchParams.has('options')) dsn.searchParams.set('options', SESSION_OPTIONS);
  return dsn.href;
}

/** What a statement that called `refuse` says, or undefined for any other error. */
export function refusalOf(error: unknown): { reason: string; facts: unknown } | undefined {
  for (let cause = error; cause instanceof Error; cause = cause.cause) {
    const { code, detail } = cause as { code?: unknown; detail?: unknown };
    if (code !== 'OW001') continue;
    return { reason: cause.message, facts: typeof detail === 'string' ? JSON.parse(detail) : {} };
  }
  return undefined;
}

/** The detail that Postgres adds to an error quotes rows, and errors are logged. Ours is for the caller and stays. */
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

/** Errors after which a connection is as good as before: our own, and those a statement raised on purpose. */
const isRefusal = (error: unknown): boolean =>
  error instanceof AppError || refusalOf(error) !== undefined;

/**
 * Slonik ends a connection whenever its user throws, whatever for. A refusal is an ordinary answer: a new connection,
 * a process of its own in Postgres, for each of them would make refused requests the dearest there are.
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
 * The pool of one process. `timestamptz` comes back as ISO 8601 UTC with milliseconds, `bigint` and `numeric` as
 * numbers (every bigint of ours is a count or micro-dollars, far below 2^53).
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
    // The default sends DISCARD ALL whenever a connection is given back: one more round trip per statement, and
    // prepared statements are lost. Nothing of ours leaves state in a session.
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

/** Asks the database for nothing. Rejects when it does not answer. */
export async function ping(db: Db): Promise<void> {
  await db.query(sql.type(z.object({}))`SELECT`);
}

/**
 * To be selected by a statement: whether its commit waits for the disk. It need not where a crash of the database
 * server may lose what was written because it is then done again, to the same effect; every later commit that waits
 * flushes it too.
 */
export const syncCommit = (wait: boolean) =>
  sql.fragment`set_config('synchronous_commit', ${wait ? 'on' : 'off'}, true)`;

export type { FragmentSqlToken, QuerySqlToken } from 'slonik';
export { sql };
