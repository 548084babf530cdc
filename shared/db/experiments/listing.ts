import { z } from 'zod';
import type { ListedExperiment } from '#shared/contract/experiments/experiment.ts';
import { jobStatuses } from '#shared/contract/jobs/job.ts';
import { notFound } from '#shared/errors.ts';
import { toDollars } from '#shared/money/money.ts';
import { decodeCursor, pageOf } from '#shared/db/cursor.ts';
import { type Db, sql, statement } from '#shared/db/pool.ts';
import { spentMicros } from './experiments.ts';
import { summaryJson, summaryShape, toExperimentSummary } from './results.ts';

const listedRow = z.object({
  id: z.string(),
  at: z.number(),
  status: z.enum(jobStatuses),
  error: z.string().nullable(),
  done: z.number(),
  total: z.number().nullable(),
  workflow_id: z.string(),
  version: z.number().nullable(),
  allow: z.array(z.string()).nullable(),
  budget_micros: z.number().nullable(),
  spent_micros: z.number(),
  summary: summaryShape,
  created_by: z.string().nullable(),
  created_by_name: z.string().nullable(),
  created_at: z.string(),
  finished_at: z.string().nullable(),
});

const listedColumns = sql.fragment`
  e.id, j.status, j.error, j.done, j.total, e.workflow_id, e.version, e.rules -> 'allow' AS allow, e.budget_micros,
  ${spentMicros} AS spent_micros, ${summaryJson} AS summary, j.created_by, j.created_by_name, j.created_at,
  j.finished_at, (extract(epoch FROM e.created_at) * 1000000)::bigint AS at`;

function toListed(row: z.infer<typeof listedRow>): ListedExperiment {
  const { at: _at, done, total, version, allow, budget_micros, spent_micros, ...rest } = row;
  return {
    ...rest,
    progress: { done, total },
    candidate: version === null ? 'draft' : { version },
    allow: allow ?? [],
    budget_usd: budget_micros === null ? null : toDollars(budget_micros),
    spent_usd: toDollars(spent_micros),
    summary: toExperimentSummary(row.summary),
  };
}

/** Throws AppError `not_found`. */
export async function readExperiment(
  db: Db,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<ListedExperiment> {
  const row = await db.maybeOne(statement(listedRow)`
    SELECT ${listedColumns} FROM experiments e JOIN background_jobs j ON j.id = e.id
    WHERE e.id = ${id} AND e.workspace_id = ${workspaceId}
  `);
  if (row === null) throw notFound('Experiment');
  return toListed(row);
}

/** The experiments of a workflow, newest first. Throws AppError `invalid` for a cursor of another list. */
export async function listExperiments(
  db: Db,
  { workspaceId, workflowId }: { workspaceId: string; workflowId: string },
  { limit, cursor }: { limit: number; cursor?: string | undefined },
): Promise<{ experiments: ListedExperiment[]; next_cursor: string | null }> {
  const end = cursor === undefined ? undefined : decodeCursor(cursor);
  const rows = await db.any(statement(listedRow)`
    SELECT ${listedColumns} FROM (
      SELECT * FROM experiments
      WHERE workflow_id = ${workflowId} AND workspace_id = ${workspaceId}
        AND (${end?.id ?? null}::text IS NULL
             OR (created_at, id) < ('epoch'::timestamptz + ${end?.at ?? 0}::bigint * interval '1 microsecond', ${end?.id ?? ''}))
      ORDER BY created_at DESC, id DESC LIMIT ${limit + 1}
    ) AS e JOIN background_jobs j ON j.id = e.id
    ORDER BY e.created_at DESC, e.id DESC
  `);
  const page = pageOf(rows, limit);
  return { experiments: page.rows.map(toListed), next_cursor: page.next_cursor };
}
