import { z } from 'zod';
import type { OffsetPage } from '#shared/contract/common.ts';
import { AppError } from '#shared/errors.ts';
import { type FragmentSqlToken, sql } from './pool.ts';

/** The end of a page of a list ordered by `(created_at, id)`: microseconds since 1970, and the id. */
export interface PageEnd {
  at: number;
  id: string;
}

/** Characters that no id contains and that the database would reject. */
const UNSENDABLE = /[\p{Cc}\p{Cs}]/u;

const id = z
  .string()
  .min(1)
  .max(200)
  .refine((text) => !UNSENDABLE.test(text));
/** Encodes the ends of a list's pages as cursors, which are opaque to clients. */
export const cursorsOf = <End>(shape: z.ZodType<End>) => ({
  encode: (end: End): string => Buffer.from(JSON.stringify(end)).toString('base64url'),
  /** Throws AppError `invalid` for a cursor of another list. */
  decode: (cursor: string): End => {
    try {
      return shape.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    } catch (error) {
      throw new AppError('invalid', 'cursor: not a cursor of this list', { cause: error });
    }
  },
});

const cursors = cursorsOf(z.tuple([z.int(), id]));

/** Throws AppError `invalid` for an invalid cursor. */
export function decodeCursor(cursor: string): PageEnd {
  const [at, id] = cursors.decode(cursor);
  return { at, id };
}

/** Expects one row more than the page, which shows whether there is a next page. */
export function pageOf<Row extends { at: number; id: string }>(
  rows: readonly Row[],
  limit: number,
): { rows: readonly Row[]; next_cursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { rows: page, next_cursor: more ? cursors.encode([last.at, last.id]) : null };
}

/** Limits a list to a page. Without a page, there is no limit. */
export const offsetClause = (page?: OffsetPage) =>
  sql.fragment`LIMIT ${page?.limit ?? null}::bigint OFFSET ${page?.offset ?? 0}::bigint`;

/** Converts the `at` of a page's end into the time of a row, and back. */
export const toTimestamp = (microseconds: number): FragmentSqlToken =>
  sql.fragment`'epoch'::timestamptz + ${microseconds}::bigint * interval '1 microsecond'`;
export const toMicroseconds = (column: FragmentSqlToken): FragmentSqlToken =>
  sql.fragment`(extract(epoch FROM ${column}) * 1000000)::bigint`;
