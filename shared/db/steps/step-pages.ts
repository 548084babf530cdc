import { z } from 'zod';
import type { Step, StepCount } from '#shared/contract/steps/step.ts';
import { notFound } from '#shared/errors.ts';
import { cursorsOf } from '#shared/db/cursor.ts';
import { type Db, sql, statement } from '#shared/db/pool.ts';
import {
  allPayloads,
  type StepFields,
  stepPayloads,
  stepRecord,
  type StepRow,
  toSteps,
  withPayloads,
} from './step-records.ts';
import { storedJson } from '#shared/db/stored-json.ts';

/**
 * Runs can have tens of thousands of steps, in maps and loops. The steps outside of iterations come first, because they
 * show how the run went; a page of items alone would not.
 */

/** The end of a page: whether its last step is in an iteration, the step's number in the order of starts, and its key. */
type PageEnd = [inIteration: boolean, ordinal: number, stepKey: string];

const { encode, decode } = cursorsOf(
  z.tuple([z.boolean(), z.int(), z.string().regex(/^[\x20-\x7e]{1,1000}$/)]),
);

/** Keys are ASCII, and the database also compares them by bytes. */
const place = ({ iteration, ordinal, step_key }: StepRow): PageEnd => [
  iteration.length > 0,
  ordinal,
  step_key,
];

function isAfter(one: PageEnd, other: PageEnd): boolean {
  const at = one.findIndex((part, index) => part !== other[index]);
  return at !== -1 && one[at]! > other[at]!;
}

const pageKey = sql.fragment`(cardinality(s.iteration) > 0), s.ordinal, (s.step_key COLLATE "C")`;

/**
 * The first `limit` steps of run `r`, plus one that shows whether there are more; without a limit, all of them. A table
 * of one row: `fields`, and `payloads` for `withPayloads`.
 */
export const firstSteps = (limit: number | undefined) => sql.fragment`
  SELECT coalesce(json_agg(${stepRecord}), '[]') AS fields, ${allPayloads} AS payloads
  FROM (
    SELECT * FROM (
      SELECT * FROM steps s WHERE s.run_id = r.id ORDER BY ${pageKey} LIMIT ${limit === undefined ? null : limit + 1}::int
    ) AS s ORDER BY s.ordinal, s.started_at, s.step_key
  ) AS s`;

/** The rows of a page, and the cursor of the next page; null on the last page. Rows keep their order. */
export function cutPage(
  rows: readonly StepRow[],
  limit: number | undefined,
): { rows: readonly StepRow[]; next_cursor: string | null } {
  if (limit === undefined || rows.length <= limit) return { rows, next_cursor: null };
  const inOrder = rows.toSorted((a, b) => (isAfter(place(a), place(b)) ? 1 : -1));
  const last = inOrder[limit - 1]!;
  const beyond = inOrder[limit]!.step_key;
  return {
    rows: rows.filter(({ step_key }) => step_key !== beyond),
    next_cursor: encode(place(last)),
  };
}

/** A row with `stepColumns`. */
export const stepRow = z.object({ fields: storedJson<StepFields>(), payloads: z.string() });

/** The columns of a step `s`. */
export const stepColumns = sql.fragment`${stepRecord} AS fields, ${stepPayloads} AS payloads`;

export const toStepRow = ({ fields, payloads }: z.infer<typeof stepRow>): StepRow =>
  withPayloads([fields], payloads)[0]!;

/** The steps of a page. The cost of an agent with tools includes its turns and calls, which may be on other pages. */
export async function toPage(db: Db, runId: string, rows: readonly StepRow[]): Promise<Step[]> {
  const agents = rows.filter(
    ({ kind, parent_step_key }) => kind === 'agent' && parent_step_key === null,
  );
  if (agents.length === 0) return toSteps(rows);
  const known = new Set(rows.map(({ step_key }) => step_key));
  const others = await db.any(statement(stepRow)`
    SELECT ${stepColumns} FROM steps s
    WHERE s.run_id = ${runId} AND s.parent_step_key = ANY (${sql.array(
      agents.map(({ step_key }) => step_key),
      'text',
    )})
    ORDER BY s.ordinal, s.started_at, s.step_key
  `);
  const parts = others.map(toStepRow).filter(({ step_key }) => !known.has(step_key));
  return toSteps([...rows, ...parts]).slice(0, rows.length);
}

export interface StepFilter {
  workspaceId: string;
  runId: string;
  nodeId?: string;
  stepKey?: string;
  status?: Step['status'];
  limit: number;
  cursor?: string;
}

/**
 * A page of a run's steps: first those outside of iterations, then the others, each group in the order of their starts.
 * Throws AppError `not_found`, and `invalid` for a cursor of another list.
 */
export async function listSteps(
  db: Db,
  filter: StepFilter,
): Promise<{ steps: Step[]; next_cursor: string | null }> {
  const conditions = [
    sql.fragment`r.id = ${filter.runId}`,
    sql.fragment`r.workspace_id = ${filter.workspaceId}`,
  ];
  if (filter.nodeId !== undefined) conditions.push(sql.fragment`s.node_id = ${filter.nodeId}`);
  if (filter.stepKey !== undefined) conditions.push(sql.fragment`s.step_key = ${filter.stepKey}`);
  if (filter.status !== undefined) conditions.push(sql.fragment`s.status = ${filter.status}`);
  if (filter.cursor !== undefined) {
    const [inIteration, ordinal, key] = decode(filter.cursor);
    conditions.push(
      sql.fragment`(${pageKey}) > (${inIteration}, ${ordinal}::bigint, ${key}::text COLLATE "C")`,
    );
  }
  const rows = await db.any(sql.type(stepRow)`
    SELECT ${stepColumns} FROM runs r JOIN steps s ON s.run_id = r.id
    WHERE ${sql.join(conditions, sql.fragment` AND `)}
    ORDER BY ${pageKey} LIMIT ${filter.limit + 1}
  `);
  if (rows.length === 0) await requireRun(db, filter);
  const page = cutPage(rows.map(toStepRow), filter.limit);
  return { steps: await toPage(db, filter.runId, page.rows), next_cursor: page.next_cursor };
}

async function requireRun(db: Db, { workspaceId, runId }: StepFilter): Promise<void> {
  const known = await db.exists(statement(z.object({}))`
    SELECT FROM runs WHERE id = ${runId} AND workspace_id = ${workspaceId}
  `);
  if (!known) throw notFound('Run');
}

const countRow = z.object({
  node_id: z.string(),
  label: z.string(),
  kind: storedJson<Step['kind']>(),
  by_status: storedJson<StepCount['by_status']>(),
  total: z.number(),
  caught: z.number(),
});

/** The number of steps of each node of a run, by status, in the order in which the nodes first started. */
export const countSteps = async (db: Db, runId: string): Promise<StepCount[]> => [
  ...(await db.any(statement(countRow)`
    SELECT node_id, min(label) AS label, min(kind) AS kind, json_object_agg(status, count) AS by_status,
           sum(count)::bigint AS total, sum(caught)::bigint AS caught
    FROM (
      SELECT node_id, status, min(label) AS label, min(kind) AS kind, min(ordinal) AS began, count(*) AS count,
             count(*) FILTER (WHERE caught) AS caught
      FROM steps WHERE run_id = ${runId} AND parent_step_key IS NULL GROUP BY node_id, status
    ) AS by_status
    GROUP BY node_id ORDER BY min(began), node_id
  `)),
];
