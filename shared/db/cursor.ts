import { z } from 'zod';
import type { OffsetPage } from '../contract/common.ts';
import { AppError } from '../errors.ts';
import { sql } from './pool.ts';

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
const encoded = z.tuple([z.int(), id]);

function encodeCursor(end: PageEnd): string {
  return Buffer.from(JSON.stringify([end.at, end.id])).toString('base64url');
}

/** Throws AppError `invalid` for an invalid cursor. */
export function decodeCursor(cursor: string): PageEnd {
  try {
    const [at, id] = encoded.parse(JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8')));
    return { at, id };
  } catch (error) {
    throw new AppError('invalid', 'cursor: not a cursor of this list', { cause: error });
  }
}

/** Expects one row more than the page, which shows whether there is a next page. */
export function pageOf<Row extends { at: number; id: string }>(
  rows: readonly Row[],
  limit: number,
): { rows: readonly Row[]; next_cursor: string | null } {
  const page = rows.slice(0, limit);
  const last = page.at(-1);
  const more = rows.length > limit && last !== undefined;
  return { rows: page, next_cursor: more ? encodeCursor(last) : null };
}

/** Limits a list to a page; without a page there is no limit. */
export const offsetClause = (page?: OffsetPage) =>
  sql.fragment`LIMIT ${page?.limit ?? null}::bigint OFFSET ${page?.offset ?? 0}::bigint`;
