import { z } from 'zod';
import type { EvaluationCheck } from '#shared/contract/workflows/evaluation-check.ts';
import { rehearsalFields, rehearsalSchema } from '#shared/contract/forks/fork.ts';
import type { Json, JsonObject } from '#shared/json.ts';
import { type Db, jsonOrNull, sql, statement, type Tx } from '#shared/db/pool.ts';
import { storedJson } from '#shared/db/stored-json.ts';

/** An experiment is a job (`shared/db/jobs`) with the same id, plus a candidate and the runs to rehearse. */

const json = storedJson();
const candidateRow = z.object({
  workflow_id: z.string(),
  version: z.number().nullable(),
  graph: json,
  input_schema: storedJson<JsonObject | null>(),
  checks: storedJson<EvaluationCheck[]>(),
  rules: rehearsalSchema.partial().extend({ pins: rehearsalFields.pins }),
  budget_micros: z.number().nullable(),
  spent_micros: z.number(),
  created_by: z.string().nullable(),
  created_by_name: z.string().nullable(),
});
export type StoredExperiment = z.infer<typeof candidateRow>;

/** The cost so far of the rehearsals of experiment `e` and of the runs below them. */
export const spentMicros = sql.fragment`(SELECT s.spent_micros FROM experiment_spending(e.id, '', '') AS s)`;

/** A new experiment: the candidate, with the fields of a draft, and the runs to rehearse, in order. */
export interface NewExperiment {
  id: string;
  workspaceId: string;
  workflowId: string;
  /** Null for a draft. */
  version: number | null;
  content: { graph: Json; inputSchema: JsonObject | null };
  contentDigest: string;
  rules: JsonObject;
  budgetMicros: number | null;
  runIds: readonly string[];
}

/** The job must already be inserted. The checks are the workflow's present ones. */
export async function insertExperiment(tx: Tx, experiment: NewExperiment): Promise<void> {
  const { id, workflowId, content, rules } = experiment;
  await tx.query(statement(z.object({}))`
    INSERT INTO experiments (id, workspace_id, workflow_id, version, graph, input_schema, content_digest, checks, rules,
                             budget_micros)
    SELECT ${id}, ${experiment.workspaceId}, w.id, ${experiment.version}::int, ${jsonOrNull(content.graph)},
           ${jsonOrNull(content.inputSchema)}, ${experiment.contentDigest}, w.checks, ${JSON.stringify(rules)}::json,
           ${experiment.budgetMicros}::bigint
    FROM workflows w WHERE w.id = ${workflowId} AND w.workspace_id = ${experiment.workspaceId}
  `);
  await tx.query(statement(z.object({}))`
    INSERT INTO experiment_runs (experiment_id, n, run_id)
    SELECT ${id}, n, run_id
    FROM unnest(${sql.array([...experiment.runIds], 'text')}) WITH ORDINALITY AS t (run_id, n)
  `);
}

/** Null when it was deleted, for example with its workflow. Its spend is only read when it has a budget. */
export const findExperiment = (db: Db, id: string): Promise<StoredExperiment | null> =>
  db.maybeOne(statement(candidateRow)`
    SELECT e.workflow_id, e.version, e.graph, e.input_schema, e.checks, e.rules, e.budget_micros,
           CASE WHEN e.budget_micros IS NULL THEN 0 ELSE ${spentMicros} END AS spent_micros,
           j.created_by, j.created_by_name
    FROM experiments e JOIN background_jobs j ON j.id = e.id WHERE e.id = ${id}
  `);

/** How many runs it rehearses. */
export const countExperimentRuns = (db: Db, id: string): Promise<number> =>
  db.oneFirst(statement(z.object({ n: z.number() }))`
    SELECT count(*) AS n FROM experiment_runs WHERE experiment_id = ${id}
  `);

export const readWorkflowOf = (db: Db, id: string): Promise<string> =>
  db.oneFirst(statement(z.object({ workflow_id: z.string() }))`
    SELECT workflow_id FROM experiments WHERE id = ${id}
  `);

const openRow = z.object({
  n: z.number(),
  run_id: z.string(),
  rehearsal_run_id: z.string().nullable(),
  status: z.string().nullable(),
});
export type OpenRun = z.infer<typeof openRow>;

/** The first runs without a result, with the present state of their rehearsals. */
export const openRuns = (
  db: Db,
  { id, limit }: { id: string; limit: number },
): Promise<readonly OpenRun[]> =>
  db.any(statement(openRow)`
    SELECT o.n, o.run_id, r.id AS rehearsal_run_id, r.status
    FROM (SELECT n, run_id FROM experiment_runs
          WHERE experiment_id = ${id} AND outcome IS NULL ORDER BY n LIMIT ${limit}::int) AS o
    LEFT JOIN runs r ON r.experiment_id = ${id} AND r.forked_from = o.run_id
    ORDER BY o.n
  `);

/** The rehearsals of an experiment that have not ended. */
export const openRehearsals = (
  db: Db,
  { workspaceId, id }: { workspaceId: string; id: string },
): Promise<readonly string[]> =>
  db.anyFirst(statement(z.object({ id: z.string() }))`
    SELECT id FROM runs
    WHERE experiment_id = ${id} AND workspace_id = ${workspaceId} AND status IN ('pending', 'running', 'paused')
  `);

/** The rehearsals of an experiment that are waiting for a decision. */
export const waitingRehearsals = (db: Db, id: string): Promise<readonly string[]> =>
  db.anyFirst(statement(z.object({ id: z.string() }))`
    SELECT id FROM runs WHERE experiment_id = ${id} AND status = 'paused'
  `);
