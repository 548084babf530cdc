import {
  type CommonQueryMethods,
  createPool,
  type DatabasePool,
  type DatabaseTransactionConnection,
  type Interceptor,
  SchemaValidationError,
  sql,
} from 'slonik';
import type { z } from 'zod';

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
    if (!parsed.success) throw new SchemaValidationError(query, row as never, parsed.error.issues as never);
    return parsed.data as typeof row;
  },
};

const isoTime = (value: string): string => new Date(value).toISOString();

/**
 * The pool of one process. `timestamptz` comes back as ISO 8601 UTC with milliseconds, `bigint` and `numeric` as
 * numbers (every bigint of ours is a count or micro-dollars, far below 2^53).
 */
export async function connectDatabase(
  url: string,
  options: { maxPoolSize?: number } = {},
): Promise<Pool> {
  return createPool(url, {
    maxPoolSize: options.maxPoolSize ?? 10,
    connectionTimeout: 5_000,
    idleTimeout: 60_000,
    statementTimeout: 30_000,
    idleInTransactionSessionTimeout: 30_000,
    // The default sends DISCARD ALL whenever a connection is given back: one more round trip per statement, and
    // prepared statements are lost. Nothing of ours leaves state in a session.
    resetConnection: async () => undefined,
    interceptors: [parseRows],
    typeParsers: [
      { name: 'timestamptz', parse: isoTime },
      { name: 'int8', parse: Number },
      { name: 'numeric', parse: Number },
    ],
  });
}

export { sql };
