import { z } from 'zod';
import type { ListPosition } from '#shared/crypto/data-cursors.ts';
import { type Db, type FragmentSqlToken, sql, statement } from '#shared/db/pool.ts';

/** The rows that a statement can see: keys of the data API see rows of their mode. */
export interface RecordScope {
  workspaceId: string;
  isDemo: boolean;
}

/** The rows that a member can see: live and demo rows, unless a mode is set. */
export interface ReaderScope {
  workspaceId: string;
  isDemo?: boolean;
}

/** A page of a list that is ordered by a time and `seq`, newest first. */
export interface PageRequest {
  limit: number;
  /** The end of the previous page; absent for the first one. */
  after: ListPosition | undefined;
}

export interface Page<Row> {
  rows: Row[];
  /** The end of this page; null for the last one. */
  end: ListPosition | null;
}

/** An ordered scan for a list: rows of `table` as `e`, by `clock`. */
export interface Walk {
  table: FragmentSqlToken;
  clock: FragmentSqlToken;
  /** Alternative first conditions, each scanned separately with an index; see `scopesOf`. */
  scopes: readonly FragmentSqlToken[];
  /** Further conditions on all rows. */
  where: readonly FragmentSqlToken[];
  /** Only rows that match at least one of these, each scanned separately with an index. */
  anyOf?: readonly FragmentSqlToken[];
  /** Only rows in a range of classes, each scanned separately with an index. `where` can refer to `c.class`. */
  classes?: { column: FragmentSqlToken; from: number; to: number };
}

/**
 * Rows per scan: literals, because a generic plan would sort the table. Pages of 25 and 100, each with one more row
 * that shows whether there is a next page.
 */
const depths = { short: sql.fragment`26`, long: sql.fragment`101` };
const longest = sql.fragment`10001`;

/** Greater than any position. */
const BEGINNING = { at: 'infinity', seq: '9223372036854775807' };

/**
 * The rows of a page and one more, as the relation `e` to select from, in order. Each part of the scan reads at most
 * one page in index order, and the newest rows of all parts are returned. So the number of rows to sort depends on the
 * number of parts, never on the number of matching rows.
 */
function walked(walk: Walk, page: PageRequest): FragmentSqlToken {
  return walkedTo(page.limit <= 25 ? depths.short : depths.long, walk, page.after);
}

/** The same, up to the size of an export. */
export const walkedFar = (walk: Walk): FragmentSqlToken => walkedTo(longest, walk, undefined);

function walkedTo(
  depth: FragmentSqlToken,
  walk: Walk,
  after: ListPosition | undefined,
): FragmentSqlToken {
  const { clock, scopes, anyOf } = walk;
  const parts = scopes
    .flatMap((scope) => anyOf?.map((condition) => [scope, condition]) ?? [[scope]])
    .map((asked) => part(depth, { ...walk, where: [...asked, ...walk.where] }, after));
  const [only, ...others] = parts;
  if (only !== undefined && others.length === 0) return only;
  // Removes duplicates: a city and its region can have the same name.
  return sql.fragment`(
    SELECT DISTINCT ON (e.${clock}, e.seq) e.*
    FROM (${sql.join(
      parts.map((each) => sql.fragment`SELECT * FROM ${each} e`),
      sql.fragment` UNION ALL `,
    )}) e
    ORDER BY e.${clock} DESC, e.seq DESC LIMIT ${depth})`;
}

function part(
  depth: FragmentSqlToken,
  { table, clock, where, classes }: Walk,
  after: ListPosition | undefined,
): FragmentSqlToken {
  const { at, seq } = after === undefined ? BEGINNING : { at: timeOf(after.at), seq: after.tie };
  const conditions = [
    ...where,
    sql.fragment`(e.${clock}, e.seq) < (${at}::timestamptz, ${seq}::bigint)`,
  ];
  const ordered = (all: readonly FragmentSqlToken[]): FragmentSqlToken => sql.fragment`(
    SELECT e.* FROM ${table} e WHERE ${sql.join(all, sql.fragment` AND `)}
    ORDER BY e.${clock} DESC, e.seq DESC LIMIT ${depth})`;
  if (classes === undefined) return ordered(conditions);
  const ofClass = sql.fragment`e.${classes.column} = c.class`;
  return sql.fragment`(
    SELECT e.* FROM generate_series(${classes.from}::int, ${classes.to}::int) AS c (class)
    CROSS JOIN LATERAL ${ordered([ofClass, ...conditions])} e
    ORDER BY e.${clock} DESC, e.seq DESC LIMIT ${depth})`;
}

/** The end of a page, in each row of a list. */
export const listPosition = { at: z.number(), tie: z.number() };

/** A page of a list, newest first: these columns of `e`, and the position of each row as in `listPosition`. */
export async function readPage<Row extends { at: number; tie: number }>(
  db: Db,
  row: z.ZodType<Row>,
  columns: FragmentSqlToken,
  { walk, page }: { walk: Walk; page: PageRequest },
): Promise<Page<Omit<Row, 'at' | 'tie'>>> {
  const rows = await db.any(statement(row)`
    SELECT ${columns}, (extract(epoch FROM e.${walk.clock}) * 1000000)::bigint AS at, e.seq AS tie
    FROM ${walked(walk, page)} e
    ORDER BY e.${walk.clock} DESC, e.seq DESC LIMIT ${page.limit + 1}
  `);
  return pageOf(rows, page);
}

/** Builds a page from rows that include one more than the page. */
export function pageOf<Row extends { at: number; tie: number | string }>(
  rows: readonly Row[],
  { limit }: PageRequest,
): Page<Omit<Row, 'at' | 'tie'>> {
  const last = rows[limit - 1];
  const end = rows.length > limit && last !== undefined ? last : undefined;
  return {
    rows: rows.slice(0, limit).map(({ at: _at, tie: _tie, ...row }) => row),
    end: end === undefined ? null : { at: end.at, tie: String(end.tie) },
  };
}

/**
 * Rows of a feed, if the feed is in the scope. A feed determines its workspace and mode, so its indexes need not start
 * with them, and the scope is checked once instead of for each row.
 */
export const ofFeed = ({ workspaceId, isDemo }: ReaderScope, feedId: string): FragmentSqlToken =>
  sql.fragment`e.feed_id = (SELECT f.id FROM data_feeds f
    WHERE f.id = ${feedId} AND f.workspace_id = ${workspaceId}
      AND (${isDemo ?? null}::boolean IS NULL OR f.is_demo = ${isDemo ?? null}))`;

/** Rows of any feed in the scope, for a condition that few rows of each feed meet; see `ofFeed`. */
export const ofFeeds = ({ workspaceId, isDemo }: ReaderScope): FragmentSqlToken =>
  sql.fragment`e.feed_id = ANY (ARRAY(SELECT f.id FROM data_feeds f
    WHERE f.workspace_id = ${workspaceId}
      AND (${isDemo ?? null}::boolean IS NULL OR f.is_demo = ${isDemo ?? null})))`;

/** Rows that reference a record in `column`, if it is in the scope; see `ofFeed`. */
export const ofEntity = (
  { workspaceId, isDemo }: ReaderScope,
  column: FragmentSqlToken,
  entityId: string,
): FragmentSqlToken =>
  sql.fragment`e.${column} = (SELECT r.id FROM data_entities r
    WHERE r.id = ${entityId} AND r.workspace_id = ${workspaceId}
      AND (${isDemo ?? null}::boolean IS NULL OR r.is_demo = ${isDemo ?? null}))`;

export const ofScope = ({ workspaceId, isDemo }: RecordScope): FragmentSqlToken =>
  sql.fragment`e.workspace_id = ${workspaceId} AND e.is_demo = ${isDemo}`;

/** The alternative first conditions of a list: the feed, else the mode of the scope, else each of the two modes. */
export function scopesOf(scope: ReaderScope, feedId: string | undefined): FragmentSqlToken[] {
  if (feedId !== undefined) return [ofFeed(scope, feedId)];
  const { workspaceId, isDemo } = scope;
  const modes = isDemo === undefined ? [false, true] : [isDemo];
  return modes.map((each) => ofScope({ workspaceId, isDemo: each }));
}

/** Condition for a row that is looked up by its id. */
export const ofReader = ({ workspaceId, isDemo }: ReaderScope): FragmentSqlToken =>
  sql.fragment`e.workspace_id = ${workspaceId}
    AND (${isDemo ?? null}::boolean IS NULL OR e.is_demo = ${isDemo ?? null})`;

/** The class of a confidence, as in the column `confidence_class`; the highest is 100. */
export const confidenceClass = (confidence: number): number => Math.floor(confidence * 100 + 1e-6);
export const HIGHEST_CONFIDENCE_CLASS = 100;

/** Formats microseconds since 1970 as a timestamp with six decimals. */
function timeOf(microseconds: number): string {
  const ms = Math.floor(microseconds / 1000);
  const rest = String(microseconds - ms * 1000).padStart(3, '0');
  return new Date(ms).toISOString().replace('Z', `${rest}Z`);
}
