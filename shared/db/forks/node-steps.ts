import { z } from 'zod';
import { AppError } from '#shared/errors.ts';
import { type Db, statement } from '#shared/db/pool.ts';

/** A node in a run, and optionally one of its steps. */
export interface NodeInRun {
  runId: string;
  nodeId: string;
  stepKey?: string | undefined;
}

const keyRow = z.object({ step_key: z.string() });

/**
 * The key of a step of a node in a run, by default the last one. Undefined when the run has none. Throws AppError
 * `unprocessable` when the given step does not belong to the node.
 */
export async function findNodeStep(
  db: Db,
  { runId, nodeId, stepKey }: NodeInRun,
): Promise<string | undefined> {
  const row = await db.maybeOne(statement(keyRow)`
    SELECT step_key FROM steps
    WHERE run_id = ${runId} AND node_id = ${nodeId} AND parent_step_key IS NULL AND status <> 'skipped'
      AND (${stepKey ?? null}::text IS NULL OR step_key = ${stepKey ?? null})
    ORDER BY ordinal DESC, step_key DESC LIMIT 1
  `);
  if (row === null && stepKey !== undefined) throw noSuchStep({ runId, nodeId, stepKey });
  return row?.step_key;
}

/** The error for a step that does not belong to the node. */
export const noSuchStep = ({ runId, nodeId, stepKey = nodeId }: NodeInRun): AppError =>
  new AppError(
    'unprocessable',
    `Run ${runId} has executed no step '${stepKey}' of the node '${nodeId}': name one of GET /api/runs/${runId}`,
  );
