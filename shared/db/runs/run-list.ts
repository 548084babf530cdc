import { StatementTimeoutError } from 'slonik';
import { z } from 'zod';
import type { ListedRun, RunListQuery, RunSummary } from '#shared/contract/runs/run.ts';
import { AppError } from '#shared/errors.ts';
import { toMicros } from '#shared/money/money.ts';
import { decodeCursor, pageOf, toMicroseconds, toTimestamp } from '#shared/db/cursor.ts';
import {
  type Db,
  type FragmentSqlToken,
  type QuerySqlToken,
  sql,
  statement,
} from '#shared/db/pool.ts';
import { excerptOf } from '#shared/values/excerpt.ts';
import { wordsQuery } from './run-words.ts';
import { summaryColumns, summaryRow, toSummary } from './summary.ts';

/** Which runs of a workspace to list: the API's query, with optional parts undefined. */
export type RunFilter = { workspaceId: string } & RunListQuery;

const pagedSummary = z.object({
  ...summaryRow.shape,
  at: z.number(),
  input_text: z.string().nullable(),
});

/** Larger inputs have no excerpt: a list must not read them. In bytes, as they are stored. */
const MAX_EXCERPT_OF = 4_000;

/** Longer searches fail, in ms. */
const MAX_SEARCH_MS = 5_000;

/**
 * Runs newest first, without payloads. Throws AppError: `invalid` for a cursor of another list, `unavailable` for a search
 * that takes too long.
 */
export async function listRuns(
  db: Db,
  filter: RunFilter,
): Promise<{ runs: ListedRun[]; next_cursor: string | null }> {
  const conditions = sql.fragment`${sql.join(conditionsOf(filter), sql.fragment` AND `)}`;
  const source =
    filter.q === undefined
      ? sql.fragment`SELECT r.*, 0 AS day FROM runs r WHERE ${conditions}`
      : matching(filter, filter.q, conditions);
  const statement = sql.type(pagedSummary)`
    SELECT ${summaryColumns}, ${toMicroseconds(sql.fragment`r.created_at`)} AS at,
      CASE WHEN pg_column_size(r.input) <= ${MAX_EXCERPT_OF}::int THEN r.input::text END AS input_text
    FROM (${source}) AS r JOIN workflows w ON w.id = r.workflow_id
    ORDER BY ${filter.q === undefined ? sql.fragment`` : sql.fragment`r.day DESC,`} r.created_at DESC, r.id DESC
    LIMIT ${filter.limit + 1}
  `;
  const page = pageOf(await readPlanned(db, statement), filter.limit);
  return {
    runs: page.rows.map(({ at: _at, input_text, ...row }) => ({
      ...toSummary(row),
      input_excerpt: input_text === null ? null : excerptOf(input_text),
    })),
    next_cursor: page.next_cursor,
  };
}

/** Runs of a page of an export. */
const EXPORT_PAGE = 500;

/**
 * All matching runs, newest first, in pages. Each page is a separate statement, so it shows runs as they were when it
 * was read.
 */
export async function* runPages(
  db: Db,
  filter: Omit<RunFilter, 'cursor' | 'limit'>,
): AsyncGenerator<RunSummary[]> {
  let cursor: string | undefined;
  do {
    const page = await listRuns(db, { ...filter, cursor, limit: EXPORT_PAGE });
    yield page.runs.map(({ input_excerpt: _excerpt, ...run }) => run);
    cursor = page.next_cursor ?? undefined;
  } while (cursor !== undefined);
}

/** Reads with a plan for these values, because the best index depends on how many runs match. */
async function readPlanned(
  db: Db,
  page: QuerySqlToken<typeof pagedSummary>,
): Promise<readonly z.output<typeof pagedSummary>[]> {
  try {
    return await db.transaction(async (tx) => {
      await tx.query(statement(z.unknown())`
        SELECT set_config('plan_cache_mode', 'force_custom_plan', true),
               set_config('statement_timeout', ${String(MAX_SEARCH_MS)}, true)
      `);
      return tx.any(page);
    });
  } catch (error) {
    if (!(error instanceof StatementTimeoutError)) throw error;
    throw new AppError(
      'unavailable',
      'The search took too long. Narrow it, for example to a workflow or to some days',
      { cause: error },
    );
  }
}

function conditionsOf(filter: RunFilter): FragmentSqlToken[] {
  const { workflow_id, version, trigger, parent_run_id, forked_from, mode, failure_kind } = filter;
  const given: (FragmentSqlToken | undefined)[] = [
    sql.fragment`r.workspace_id = ${filter.workspaceId}`,
    workflow_id === undefined ? undefined : sql.fragment`r.workflow_id = ${workflow_id}`,
    version === undefined
      ? undefined
      : sql.fragment`r.workflow_version = ${version}::int AND r.graph IS NULL`,
    statusCondition(filter.status),
    failure_kind === undefined
      ? undefined
      : sql.fragment`r.failure IS NOT NULL AND r.failure ->> 'kind' = ${failure_kind}`,
    trigger === undefined ? undefined : sql.fragment`r.trigger = ${trigger}`,
    parent_run_id === undefined ? undefined : sql.fragment`r.parent_run_id = ${parent_run_id}`,
    forked_from === undefined ? undefined : sql.fragment`r.forked_from = ${forked_from}`,
    mode === undefined
      ? undefined
      : sql.fragment`(r.rehearsal IS NOT NULL) = ${mode === 'recorded'}`,
    ...rangeConditions(filter),
  ];
  return given.filter((condition) => condition !== undefined);
}

const statusCondition = (status: RunFilter['status']): FragmentSqlToken | undefined => {
  if (status === undefined) return undefined;
  if (status.length === 1) return sql.fragment`r.status = ${status[0] ?? null}`;
  return sql.fragment`r.status = ANY (${sql.array(status, 'text')})`;
};

/** The active time of a running run, in ms. */
const runningMs = sql.fragment`
  r.active_ms + coalesce((extract(epoch FROM clock_timestamp() - r.phase_since) * 1000)::bigint, 0)`;

function rangeConditions(filter: RunFilter): (FragmentSqlToken | undefined)[] {
  const { since, until, min_cost_usd, max_cost_usd, min_duration_ms, max_duration_ms } = filter;
  const end = filter.cursor === undefined ? undefined : decodeCursor(filter.cursor);
  return [
    since === undefined ? undefined : sql.fragment`r.created_at >= ${since}::timestamptz`,
    until === undefined ? undefined : sql.fragment`r.created_at < ${until}::timestamptz`,
    min_cost_usd === undefined
      ? undefined
      : sql.fragment`r.cost_micros >= ${toMicros(min_cost_usd)}::bigint`,
    max_cost_usd === undefined
      ? undefined
      : sql.fragment`r.cost_micros <= ${toMicros(max_cost_usd)}::bigint`,
    // Two conditions for each, because only the first alternative has an index.
    min_duration_ms === undefined
      ? undefined
      : sql.fragment`(r.active_ms >= ${min_duration_ms}::bigint OR
          (r.status = 'running' AND NOT r.at_rest AND ${runningMs} >= ${min_duration_ms}::bigint))`,
    max_duration_ms === undefined
      ? undefined
      : sql.fragment`r.active_ms <= ${max_duration_ms}::bigint AND
          (r.status <> 'running' OR r.at_rest OR ${runningMs} <= ${max_duration_ms}::bigint)`,
    end === undefined
      ? undefined
      : sql.fragment`(r.created_at, r.id) < (${toTimestamp(end.at)}, ${end.id})`,
  ];
}

/**
 * The runs that contain the words of `q`, with their `day`. It looks into the index once per day, from the newest on,
 * and ends when the page is full. Postgres stops there because the days are sorted, and the limits keep it from reading
 * all runs for the join.
 */
function matching(filter: RunFilter, q: string, conditions: FragmentSqlToken): FragmentSqlToken {
  const { workspaceId, since, until, cursor } = filter;
  const end = cursor === undefined ? null : toTimestamp(decodeCursor(cursor).at);
  return sql.fragment`
    SELECT found.*, days.day FROM (
      SELECT generate_series(
        least(now(), ${until ?? null}::timestamptz, ${end})::date::timestamp,
        greatest((SELECT min(created_at) FROM runs WHERE workspace_id = ${workspaceId}), ${since ?? null}::timestamptz)::date,
        interval '-1 day') AS day
      ORDER BY 1 DESC
    ) AS days CROSS JOIN LATERAL (
      SELECT r.* FROM run_words f CROSS JOIN LATERAL (SELECT * FROM runs WHERE id = f.run_id LIMIT 1) AS r
      WHERE f.words @@ ${wordsQuery(q, sql.fragment`run_words_key(${workspaceId}, days.day AT TIME ZONE 'UTC')`)} AND ${conditions}
      ORDER BY r.created_at DESC, r.id DESC LIMIT ${filter.limit + 1}
    ) AS found`;
}
