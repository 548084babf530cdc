import { z } from 'zod';
import { conflict } from '#shared/errors.ts';
import { jsonDigest } from '#shared/crypto/json-digest.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { statement, type Tx } from '#shared/db/pool.ts';

/** What an experiment tries and a publication publishes: a graph and its input schema. */
interface Content {
  graph: unknown;
  input_schema: JsonObject | null;
}

/** Equal for contents that differ only in formatting. */
export const contentDigest = ({ graph, input_schema }: Content): string =>
  jsonDigest({ graph: graph as Json, input_schema });

const latestRow = z.object({
  id: z.string(),
  status: z.string(),
  lost: z.number(),
  failed: z.number(),
  compared: z.number(),
});

/**
 * If the workflow requires an experiment: checks that the latest experiment with exactly this content is done, has
 * compared runs, has lost no check and has no failed run. The caller must have locked the workflow. Throws AppError
 * `conflict`.
 */
export async function requireTried(
  tx: Tx,
  workflow: { workflowId: string; required: boolean },
  content: Content,
): Promise<void> {
  if (!workflow.required) return;
  const latest = await tx.maybeOne(statement(latestRow)`
    SELECT e.id, j.status, coalesce(sum(json_array_length(x.checks_lost)), 0) AS lost,
           count(*) FILTER (WHERE x.outcome = 'failed') AS failed,
           count(*) FILTER (WHERE x.outcome IN ('equal', 'changed', 'failed')) AS compared
    FROM (SELECT id FROM experiments
          WHERE workflow_id = ${workflow.workflowId} AND content_digest = ${contentDigest(content)}
          ORDER BY created_at DESC, id DESC LIMIT 1) AS e
    JOIN background_jobs j ON j.id = e.id JOIN experiment_runs x ON x.experiment_id = e.id
    GROUP BY e.id, j.status
  `);
  const problem = problemOf(latest);
  if (problem === undefined) return;
  throw conflict(
    `This workflow is published only after an experiment without lost checks: ${problem}`,
  );
}

function problemOf(latest: z.infer<typeof latestRow> | null): string | undefined {
  if (latest === null) return 'there is none of exactly this graph and input schema; start one';
  const { id, status, lost, failed, compared } = latest;
  if (status === 'running') return `wait for ${id}`;
  if (status !== 'done') return `${id} was ${status}; start another one`;
  if (lost > 0) return `${id} has lost ${lost}; mend the draft, or change its checks`;
  if (failed > 0) return `in ${id} ${failed} of the runs have failed; mend the draft`;
  return compared === 0 ? `${id} could compare no run; choose other runs` : undefined;
}
