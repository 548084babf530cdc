import { z } from 'zod';
import { AppError } from '#shared/errors.ts';
import { type Db, statement } from '#shared/db/pool.ts';

/** A node in a run, and perhaps which of its steps. */
export interface NodeInRun {
  runId: string;
  nodeId: string;
  stepKey?: string | undefined;
}

const keyRow = z.object({ step_key: z.string() });

/**
 * The key of a step of a node in a run, by default of the last one. Undefined when the run has none. Throws AppError
 * `unprocessable` when the named step is not one of the node.
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

/** The refusal of a step that is not one of the node. */
export const noSuchStep = ({ runId, nodeId, stepKey = nodeId }: NodeInRun): AppError =>
  new AppError(
    'unprocessable',
    `Run ${runId} has executed no step '${stepKey}' of the node '${nodeId}': name one of GET /api/runs/${runId}`,
  );
