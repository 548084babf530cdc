import { z } from 'zod';
import { resultKinds } from '#shared/graph/kinds.ts';
import { type CaughtError, errorKinds } from '#shared/graph/caught-error.ts';
import { graphSchema } from '#shared/contract/workflows/graph.ts';
import { storedRehearsal } from '#shared/contract/forks/fork.ts';
import { storedProblem } from '#shared/outside-json.ts';
import { triggerSchema } from '#shared/contract/runs/run.ts';
import type { LedgerState } from '#shared/execution.ts';
import { readDecisions } from '#shared/db/gates/answers.ts';
import type { AdmittedRun } from './admission.ts';
import { type Db, type Pool, sql, statement } from '#shared/db/pool.ts';
import { rulesOf } from './run-request.ts';
import { startsRun } from '#shared/db/steps/step-records.ts';
import type { JsonObject } from '#shared/json.ts';
import { storedJson } from '#shared/db/stored-json.ts';

const finishedRow = z.object({ step_key: z.string(), output: z.string() });
const runRow = z.object({
  failures_reported: z.number(),
  rounds: z.record(z.string(), z.number()).nullable(),
  turns: z.record(z.string(), z.number()).nullable(),
  children: z.record(z.string(), z.number()).nullable(),
  waited: z.record(z.string(), z.number()).nullable(),
  handled: z.number(),
});

const caughtRow = z.object({
  step_key: z.string(),
  message: z.string(),
  kind: z.enum(errorKinds),
  attempts: z.number(),
});

/** Whether step `s` has a result from outside the graph. An agent's turns and calls belong to the agent. */
export const hasResult = sql.fragment`
  (s.status = 'success' AND s.kind = ANY (${sql.array(resultKinds, 'text')}) AND s.parent_step_key IS NULL)`;

/** The caught errors of a run, by step key. */
export async function readCaught(db: Db, runId: string): Promise<Record<string, CaughtError>> {
  const caught = await db.any(statement(caughtRow)`
    SELECT step_key, coalesce(error, 'failed') AS message, coalesce(error_kind, 'node') AS kind,
           greatest(1, errors - forgiven) AS attempts
    FROM steps WHERE run_id = ${runId} AND caught
  `);
  return Object.fromEntries(caught.map(({ step_key, ...error }) => [step_key, error]));
}

const endedRow = z.object({ step_key: z.string(), unhandled: z.boolean() });

/**
 * The keys of a run's steps with a result, in the order in which they entered its state. Those without a number ended
 * before the first one with a number, or never entered it.
 */
export async function readEndOrder(db: Db, runId: string): Promise<string[]> {
  return (await readEnded(db, runId)).map(({ step_key }) => step_key);
}

/** `unhandled`: the result has no number, and is not that of another run. */
const readEnded = (db: Db, runId: string): Promise<readonly z.infer<typeof endedRow>[]> =>
  db.any(statement(endedRow)`
    SELECT step_key, handled IS NULL AND reused_from IS NULL AS unhandled FROM steps s
    WHERE run_id = ${runId} AND (${hasResult} OR caught OR (kind = 'human_gate' AND finished_at IS NOT NULL))
    ORDER BY CASE
      WHEN handled IS NOT NULL THEN 1
      WHEN reused_from IS NOT NULL OR finished_at <= coalesce((
        SELECT min(n.finished_at) FROM steps n WHERE n.run_id = ${runId} AND n.handled IS NOT NULL), 'infinity') THEN 0
      ELSE 2
    END, handled, finished_at, ordinal, step_key
  `);

/** A run that cannot continue from its ledger, because an output is older than the present limits and exceeds them. */
export class UnusableLedgerError extends Error {
  override readonly name = 'UnusableLedgerError';
}

/**
 * Everything a new execution needs to continue a lost one: outputs of finished steps, caught errors, gate decisions and
 * rounds, and the number of reported failures. Control nodes are computed again. Throws UnusableLedgerError.
 */
export async function loadLedger(db: Pool, runId: string): Promise<LedgerState> {
  const finished = await db.any(statement(finishedRow)`
    SELECT step_key, coalesce(output::text, 'null') AS output FROM steps s WHERE run_id = ${runId} AND ${hasResult}
  `);
  for (const { step_key: key, output } of finished) {
    const problem = storedProblem(output);
    if (problem === undefined) continue;
    throw new UnusableLedgerError(
      `The output of step '${key}' is too large to continue: ${problem}`,
    );
  }
  const run = await db.maybeOne(statement(runRow)`
    SELECT failures_reported,
           (SELECT coalesce(max(handled), 0) FROM steps WHERE run_id = r.id) AS handled,
           (SELECT json_object_agg(step_key, round) FROM (
              SELECT step_key, max(round) AS round FROM gates WHERE run_id = r.id GROUP BY step_key) g) AS rounds,
           (SELECT json_object_agg(parent_step_key, turn) FROM (
              SELECT parent_step_key, max(turn) AS turn FROM steps
              WHERE run_id = r.id AND parent_step_key IS NOT NULL AND call_index IS NULL AND status = 'success'
              GROUP BY parent_step_key) t) AS turns,
           (SELECT json_object_agg(step_key, attempts) FROM steps s
            WHERE run_id = r.id AND ${startsRun} AND status NOT IN ('success', 'skipped')) AS children,
           -- No worker holds a delay.
           (SELECT json_object_agg(step_key, (extract(epoch FROM clock_timestamp() - coalesce(attempt_started_at, started_at)) * 1000)::bigint)
            FROM steps WHERE run_id = r.id AND kind = 'tool' AND status = 'running' AND claim IS NULL) AS waited
    FROM runs r WHERE id = ${runId}
  `);
  const ended = await readEnded(db, runId);
  return {
    texts: Object.fromEntries(finished.map((row) => [row.step_key, row.output])),
    caught: await readCaught(db, runId),
    decisions: await readDecisions(db, runId),
    rounds: run?.rounds ?? {},
    failures: run?.failures_reported ?? 0,
    handled: run?.handled ?? 0,
    turns: run?.turns ?? {},
    children: run?.children ?? {},
    waited: run?.waited ?? {},
    order: ended.map(({ step_key }) => step_key),
    unhandled: ended.flatMap(({ step_key, unhandled }) => (unhandled ? [step_key] : [])),
  };
}

const startRow = z.object({
  id: z.string(),
  status: z.string(),
  workspace_id: z.string(),
  workflow_id: z.string(),
  workflow_name: z.string(),
  workflow_version: z.number(),
  trigger: triggerSchema,
  created_by_name: z.string().nullable(),
  graph: graphSchema,
  input: storedJson<JsonObject>(),
  temporal_run_id: z.string().nullable(),
  superseded: z.array(z.string()),
  from_ledger: z.boolean(),
  resumed_count: z.number(),
  laid: z.record(z.string(), storedJson<JsonObject>()).nullable(),
  forked: z.boolean(),
  reuses: z.array(z.string()),
  rehearsal: storedRehearsal.nullable(),
});

export interface StartableRun extends AdmittedRun {
  status: string;
  temporalRunId: string | null;
  superseded: string[];
  fromLedger: boolean;
  /** The number of resumes. */
  resumedCount: number;
}

/** A run with everything that is needed to start or reset its execution; undefined when it was deleted. */
export async function readStartable(db: Pool, runId: string): Promise<StartableRun | undefined> {
  const row = await db.maybeOne(statement(startRow)`
    SELECT r.id, r.status, r.workspace_id, r.workflow_id, w.name AS workflow_name, r.workflow_version, r.trigger,
           r.created_by_name, coalesce(r.graph, v.graph) AS graph, r.input, r.temporal_run_id, r.superseded, r.from_ledger,
           r.resumed_count, r.laid, r.rehearsal, r.forked_from_step IS NOT NULL OR r.rehearsal IS NOT NULL AS forked,
           CASE WHEN r.rehearsal IS NULL THEN ARRAY(SELECT d.step_key FROM recorded_steps d WHERE d.run_id = r.id ORDER BY 1)
                ELSE '{}' END AS reuses
    FROM runs r JOIN workflows w ON w.id = r.workflow_id
    JOIN workflow_versions v ON v.workflow_id = r.workflow_id AND v.version = r.workflow_version
    WHERE r.id = ${runId}
  `);
  if (row === null) return undefined;
  return {
    runId: row.id,
    status: row.status,
    workspaceId: row.workspace_id,
    workflowId: row.workflow_id,
    workflowName: row.workflow_name,
    workflowVersion: row.workflow_version,
    trigger: row.trigger,
    actorName: row.created_by_name,
    graph: row.graph,
    input: row.input,
    laid: row.laid ?? {},
    forked: row.forked,
    reuses: row.reuses,
    ...(row.rehearsal === null ? {} : { rehearsal: rulesOf(row.rehearsal) }),
    temporalRunId: row.temporal_run_id,
    superseded: row.superseded,
    fromLedger: row.from_ledger,
    resumedCount: row.resumed_count,
  };
}

/**
 * Replaces the newest execution, so that its further reports are ignored, and lets the execution of the `n`-th resume
 * work for the run. `execution` undefined: Temporal has none. Returns false and changes nothing when the run has ended
 * or was resumed again: then this resume starts no execution.
 */
export async function supersede(
  db: Pool,
  { runId, execution, n }: { runId: string; execution: string | undefined; n: number },
): Promise<boolean> {
  const { rowCount } = await db.query(statement(z.object({}))`
    UPDATE runs SET resuming = false,
      superseded = CASE WHEN ${execution ?? null}::text IS NULL OR ${execution ?? null} = ANY(superseded) THEN superseded
                        ELSE array_append(superseded, ${execution ?? null}::text) END
    WHERE id = ${runId} AND resumed_count = ${n} AND status IN ('pending', 'running', 'paused')
  `);
  return rowCount > 0;
}
