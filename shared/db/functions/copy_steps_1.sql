-- Copies finished steps of the run `source`, with their decided gates, into a new run. A copy took no time and cost nothing
-- here. It comes before everything that the run executes itself, in the order of its source; the times keep the order in
-- which the steps had ended.
--
-- `copies`: {"kept": the keys of the steps, "agents": [{"agent": the key of one with tools, "before": the turn before which its
-- turns and calls are copied, or null for all, "whole": whether calls that failed are copied}]}.
-- Raises `source` when a kept step is no longer there.
--
-- Never changed once it is released. A change is copy_steps_2.
CREATE FUNCTION copy_steps_1(run text, source text, copies json) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  kept text[] := ARRAY(SELECT json_array_elements_text(copies -> 'kept'));
  arrived integer;
BEGIN
  -- One statement, since the source may continue: steps and gates belong together.
  WITH source_steps AS (
    SELECT s.*, row_number() OVER (ORDER BY s.ordinal, s.started_at, s.step_key) AS n, count(*) OVER () AS copies,
           row_number() OVER (ORDER BY s.finished_at, s.ordinal, s.step_key) * interval '1 microsecond' AS later
    FROM steps s LEFT JOIN json_to_recordset(copies -> 'agents') AS p (agent text, before int, whole boolean)
      ON p.agent = s.parent_step_key
    WHERE s.run_id = source AND (
      (s.parent_step_key IS NULL AND s.step_key = ANY (kept) AND (s.status = 'success' OR s.caught))
      OR (p.agent IS NOT NULL AND (p.before IS NULL OR s.turn < p.before)
          AND (s.status = 'success' OR (p.whole AND s.status = 'failed' AND s.call_index IS NOT NULL))))
  ), copied AS (
    INSERT INTO steps (run_id, step_key, node_id, label, kind, iteration, output_key, status, errors, forgiven, model,
                       input, output, error, policy, parent_step_key, turn, call_index, call_tool, error_kind, caught,
                       reused_from, ordinal, attempts, started_at, finished_at)
    SELECT run, s.step_key, s.node_id, s.label, s.kind, s.iteration, s.output_key, s.status, s.errors, s.forgiven, s.model,
           s.input, s.output, s.error, s.policy, s.parent_step_key, s.turn, s.call_index, s.call_tool, s.error_kind, s.caught,
           coalesce(s.reused_from, source), s.n - s.copies, least(s.attempts, 1), now() + s.later, now() + s.later
    FROM source_steps s
    RETURNING steps.step_key, steps.parent_step_key
  ), copied_gates AS (
    INSERT INTO gates (run_id, reused_from, step_key, round, node_id, label, prompt, fails_on_reject, status, input,
                       opened_at, decided_at, decided_by, decided_by_name, decided_by_kind, reason, kind, tool, turn,
                       arguments, schema_digest, tool_digest, digest, decided_arguments, decided_digest, settings,
                       decisions, timed_out)
    SELECT run, coalesce(g.reused_from, source), g.step_key, g.round, g.node_id, g.label, g.prompt, g.fails_on_reject,
           g.status, g.input, g.opened_at, g.decided_at, g.decided_by, g.decided_by_name, g.decided_by_kind, g.reason,
           g.kind, g.tool, g.turn, g.arguments, g.schema_digest, g.tool_digest, g.digest, g.decided_arguments,
           g.decided_digest, g.settings, g.decisions, g.timed_out
    FROM gates g
    WHERE g.run_id = source AND g.status IN ('approved', 'rejected') AND g.step_key IN (SELECT c.step_key FROM copied c)
  )
  SELECT count(*) INTO arrived FROM copied c WHERE c.parent_step_key IS NULL;
  IF arrived <> cardinality(kept) THEN
    PERFORM refuse('source', '{}');
  END IF;
END
$$;
