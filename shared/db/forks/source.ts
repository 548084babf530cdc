import { z } from 'zod';
import { graphSchema } from '#shared/contract/workflows/graph.ts';
import { decidedByKinds } from '#shared/contract/gates/gate.ts';
import { AppError, notFound } from '#shared/errors.ts';
import type { RecordedTexts } from '#shared/graph/forks/plan.ts';
import { decidedByKind } from '#shared/db/gates/gate-records.ts';
import { type Db, statement } from '#shared/db/pool.ts';
import { hasResult, readCaught, readEndOrder } from '#shared/db/runs/restart.ts';
import type { JsonObject } from '#shared/json.ts';
import { storedJson } from '#shared/db/stored-json.ts';
import { startsRun } from '#shared/db/steps/step-records.ts';

const jsonInput = storedJson<JsonObject>();

const sourceRow = z.object({
  workflow_id: z.string(),
  workflow_version: z.number(),
  of_draft: z.boolean(),
  graph: graphSchema,
  input: jsonInput,
  laid: z.record(z.string(), jsonInput).nullable(),
});

/** A run that another run starts from. */
export interface ForkSource extends Pick<RecordedTexts, 'graph' | 'input' | 'laid'> {
  workflowId: string;
  version: number;
  /** Whether it ran a draft, so that `graph` is not its version's. */
  ofDraft: boolean;
}

export interface SourceScope {
  workspaceId: string;
  runId: string;
}

/** Throws AppError `not_found`. */
export async function readForkSource(db: Db, scope: SourceScope): Promise<ForkSource> {
  const row = await db.maybeOne(statement(sourceRow)`
    SELECT r.workflow_id, r.workflow_version, r.graph IS NOT NULL AS of_draft, coalesce(r.graph, v.graph) AS graph,
           r.input, r.laid
    FROM runs r JOIN workflow_versions v ON v.workflow_id = r.workflow_id AND v.version = r.workflow_version
    WHERE r.id = ${scope.runId} AND r.workspace_id = ${scope.workspaceId}
  `);
  if (row === null) throw notFound('Run');
  return {
    workflowId: row.workflow_id,
    version: row.workflow_version,
    ofDraft: row.of_draft,
    graph: row.graph,
    input: row.input,
    laid: row.laid ?? {},
  };
}

const resultRow = z.object({ step_key: z.string(), output: z.string() });
const failedRow = z.object({ step_key: z.string() });
const decidedRow = z.object({
  step_key: z.string(),
  approved: z.boolean(),
  input: jsonInput.nullable(),
  by_kind: z.enum(decidedByKinds),
});

/** The results in a run's ledger, as a fork's plan needs them. Outputs are JSON texts. */
export async function readResults(
  db: Db,
  runId: string,
): Promise<Pick<RecordedTexts, 'outputs' | 'caught' | 'decisions' | 'failed' | 'order' | 'gated'>> {
  const finished = await db.any(statement(resultRow)`
    SELECT step_key, coalesce(output::text, 'null') AS output FROM steps s WHERE run_id = ${runId} AND ${hasResult}
  `);
  const decided = await db.any(statement(decidedRow)`
    SELECT step_key, status = 'approved' AS approved, input, by_kind
    FROM (SELECT DISTINCT ON (step_key) step_key, status, input, timed_out, ${decidedByKind} AS by_kind FROM gates g
          WHERE run_id = ${runId} AND kind = 'human_gate' ORDER BY step_key, round DESC) AS last
    WHERE status IN ('approved', 'rejected') AND timed_out IS DISTINCT FROM 'fail'
  `);
  const failed = await db.any(statement(failedRow)`
    SELECT step_key FROM steps
    WHERE run_id = ${runId} AND status = 'failed' AND NOT caught AND parent_step_key IS NULL ORDER BY ordinal
  `);
  return {
    outputs: Object.fromEntries(finished.map(({ step_key, output }) => [step_key, output])),
    caught: await readCaught(db, runId),
    failed: failed.map(({ step_key }) => step_key),
    order: await readEndOrder(db, runId),
    gated: await readGated(db, runId),
    decisions: Object.fromEntries(
      decided.map(({ step_key, approved, input, by_kind }) => [
        step_key,
        { approved, by_kind, ...(input === null ? {} : { input }) },
      ]),
    ),
  };
}

const gatedRow = z.object({ step_key: z.string() });

/**
 * The finished steps that started runs in which a gate was decided, at any depth. In a rehearsal, all steps that start
 * runs count, including agents, because requests and pins determine what these return.
 */
async function readGated(db: Db, runId: string): Promise<string[]> {
  const gated = await db.any(statement(gatedRow)`
    WITH RECURSIVE below AS (
      SELECT s.step_key, c.id FROM steps s
      JOIN runs c ON c.parent_run_id = coalesce(s.reused_from, s.run_id) AND c.parent_step_key = s.step_key
      WHERE s.run_id = ${runId} AND s.parent_step_key IS NULL AND (s.status = 'success' OR s.caught)
      UNION
      SELECT b.step_key, c.id FROM below b JOIN runs c ON c.parent_run_id = b.id
    )
    SELECT DISTINCT step_key FROM below b
    WHERE EXISTS (SELECT FROM gates g WHERE g.run_id = b.id AND g.kind = 'human_gate' AND g.decided_at IS NOT NULL)
    UNION
    SELECT coalesce(s.parent_step_key, s.step_key) FROM steps s JOIN runs r ON r.id = s.run_id
    WHERE s.run_id = ${runId} AND r.rehearsal IS NOT NULL AND ${startsRun}
    ORDER BY 1
  `);
  return gated.map(({ step_key }) => step_key);
}

const placeRow = z.object({
  status: z.string(),
  parent_step_key: z.string().nullable(),
  turn: z.number().nullable(),
});

/** Where the execution of a fork starts: at a step, or at a turn of an agent with tools. */
export interface ForkPlace {
  stepKey: string;
  turn?: number;
}

/**
 * The step of a run with this key. For a turn or a call, it is the agent's step and that turn. Throws AppError
 * `unprocessable`.
 */
export async function readForkPlace(db: Db, runId: string, stepKey: string): Promise<ForkPlace> {
  const row = await db.maybeOne(statement(placeRow)`
    SELECT status, parent_step_key, turn FROM steps WHERE run_id = ${runId} AND step_key = ${stepKey}
  `);
  if (row === null || row.status === 'skipped') {
    const why = row === null ? 'the run has no such step' : 'the run skipped this step';
    throw new AppError(
      'unprocessable',
      `No fork from step '${stepKey}': ${why}; name a step of GET /api/runs/${runId}`,
    );
  }
  return row.parent_step_key === null
    ? { stepKey }
    : { stepKey: row.parent_step_key, turn: row.turn ?? 1 };
}
