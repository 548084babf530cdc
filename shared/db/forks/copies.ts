import { sql, type FragmentSqlToken } from '#shared/db/pool.ts';

/** What a run takes over from the run that it starts from. */
export interface ForkCopies {
  sourceId: string;
  /** The keys of finished steps. */
  kept: readonly string[];
  /** Agents with tools whose turns before `before` are taken over, with the calls of these turns. */
  turns: readonly { agent: string; before: number }[];
  /** Agents that were not finished: their finished turns and calls are taken over. */
  begun: readonly string[];
}

/** The columns of a step that a copy has in common with it. */
const sameColumns = sql.fragment`
  step_key, node_id, label, kind, iteration, output_key, status, errors, forgiven, model, input, output, error,
  policy, parent_step_key, turn, call_index, call_tool, error_kind, caught`;

/** A CTE that keeps what the steps of the source were executed with, for the row of `run`. */
const recordedSteps = (digests: Record<string, string>): FragmentSqlToken => sql.fragment`
    recorded AS (
      INSERT INTO recorded_steps (run_id, step_key, digest)
      SELECT run.id, d.key, d.value FROM (SELECT id FROM run) AS run, json_each_text(${JSON.stringify(digests)}::json) AS d
    )`;

const gateColumns = sql.fragment`
  step_key, round, node_id, label, prompt, fails_on_reject, status, input, opened_at, decided_at, decided_by,
  decided_by_name, decided_by_kind, reason, kind, tool, turn, arguments, schema_digest, tool_digest, digest, decided_arguments, decided_digest,
  settings, decisions, timed_out`;

/**
 * CTEs that copy steps and their gates into the row of `run`: `copied`, and `lost` with a row that refuses the
 * statement when a step is no longer there. A copy took no time and cost nothing here. It comes before everything that
 * the run executes itself, in the order of its source; the times keep the order in which they ended.
 */
const copiedSteps = ({ sourceId, kept, turns, begun }: ForkCopies): FragmentSqlToken => {
  const before = JSON.stringify([
    ...kept.map((agent) => ({ agent, before: null, whole: true })),
    ...turns.map((part) => ({ ...part, whole: true })),
    ...begun.map((agent) => ({ agent, before: null, whole: false })),
  ]);
  return sql.fragment`
    source_steps AS (
      SELECT s.*, row_number() OVER (ORDER BY s.ordinal, s.started_at, s.step_key) AS n, count(*) OVER () AS copies,
             row_number() OVER (ORDER BY s.finished_at, s.ordinal, s.step_key) * interval '1 microsecond' AS later
      FROM steps s LEFT JOIN json_to_recordset(${before}::json) AS p (agent text, before int, whole boolean)
        ON p.agent = s.parent_step_key
      WHERE s.run_id = ${sourceId} AND (
        (s.parent_step_key IS NULL AND s.step_key = ANY (${sql.array(kept, 'text')}) AND (s.status = 'success' OR s.caught))
        OR (p.agent IS NOT NULL AND (p.before IS NULL OR s.turn < p.before)
            AND (s.status = 'success' OR (p.whole AND s.status = 'failed' AND s.call_index IS NOT NULL))))
    ), copied AS (
      INSERT INTO steps (run_id, ${sameColumns}, reused_from, ordinal, attempts, started_at, finished_at)
      SELECT run.id, ${sameColumns}, coalesce(reused_from, ${sourceId}), n - copies, least(attempts, 1),
             run.created_at + later, run.created_at + later
      FROM source_steps CROSS JOIN (SELECT id, created_at FROM run) AS run
      RETURNING step_key, parent_step_key
    ), copied_gates AS (
      INSERT INTO gates (run_id, reused_from, ${gateColumns})
      SELECT run.id, coalesce(g.reused_from, ${sourceId}), ${gateColumns} FROM (SELECT id FROM run) AS run, gates g
      WHERE g.run_id = ${sourceId} AND g.status IN ('approved', 'rejected')
        AND g.step_key IN (SELECT step_key FROM copied)
    ), lost AS MATERIALIZED (
      SELECT refuse('source', '{}') FROM run
      WHERE (SELECT count(*) FROM copied WHERE parent_step_key IS NULL) <> ${kept.length}
        OR NOT EXISTS (SELECT FROM runs WHERE id = ${sourceId})
    )`;
};

/** The parts of an admission that take over steps: CTEs after the others, and the number of rows that refuse it. */
export function copying(
  copies: ForkCopies | undefined,
  digests: Record<string, string> | undefined,
) {
  const copied = copies === undefined ? sql.fragment`` : sql.fragment`, ${copiedSteps(copies)}`;
  const recorded =
    digests === undefined ? sql.fragment`` : sql.fragment`, ${recordedSteps(digests)}`;
  return {
    /** Of the name of the prepared statement. */
    suffix: (copies === undefined ? '' : '_fork') + (digests === undefined ? '' : '_recorded'),
    rows: sql.fragment`${copied}${recorded}`,
    lost: copies === undefined ? sql.fragment`0` : sql.fragment`(SELECT count(*) FROM lost)`,
  };
}
