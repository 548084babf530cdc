-- Caps, and budgets with an estimate, are not exceeded by requests whose cost has a bound. With 'one_step' they are
-- exceeded by less than one step, as before.
ALTER TABLE workflows ADD COLUMN overrun text NOT NULL DEFAULT 'none' CHECK (overrun IN ('none', 'one_step'));
ALTER TABLE budgets ADD COLUMN overrun text NOT NULL DEFAULT 'none' CHECK (overrun IN ('none', 'one_step'));
-- What the workflow had when the run was admitted, as its cap.
ALTER TABLE runs ADD COLUMN overrun text NOT NULL DEFAULT 'none';

-- The answer had no usage, and counts what it may have cost at most.
ALTER TABLE steps ADD COLUMN cost_estimated boolean NOT NULL DEFAULT false;

ALTER TABLE workspace_prices
  ADD COLUMN cached_input_usd_per_million numeric(14, 6) CHECK (cached_input_usd_per_million >= 0);

DROP FUNCTION capped_spending(text, text);

-- Each cap above a run and its own, with what counts against it. Replaces that of 0035_sub_workflows.
CREATE FUNCTION capped_spending(run text, except_step text)
RETURNS TABLE (cap_micros bigint, cost_micros bigint, pending_micros bigint, pending_unknown boolean, overrun text)
LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY WITH RECURSIVE tree AS (
    SELECT a.id AS top, a.cap_micros, a.depth, a.id FROM runs_above(run) a WHERE a.cap_micros IS NOT NULL
    UNION ALL
    SELECT t.top, t.cap_micros, t.depth, r.id FROM tree t JOIN runs r ON r.parent_run_id = t.id
  )
  SELECT t.cap_micros, sum(r.cost_micros)::bigint, sum(f.micros)::bigint, bool_or(f.unknown),
         min(r.overrun) FILTER (WHERE r.id = t.top)
  FROM tree t JOIN runs r ON r.id = t.id
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(s.expected_micros), 0) AS micros, coalesce(bool_or(s.expected_unknown), false) AS unknown
    FROM steps s
    WHERE r.status IN ('pending', 'running', 'paused') AND s.run_id = r.id AND s.status = 'running'
      AND s.claim_until > clock_timestamp() AND NOT (s.run_id = run AND s.step_key = except_step)) AS f
  GROUP BY t.top, t.cap_micros, t.depth ORDER BY t.depth;
END $$;

DROP FUNCTION workflow_now(text);

-- The rows that an admission relies on, as they are when it is called. Replaces that of 0023_workflow_now.
CREATE FUNCTION workflow_now(workflow text)
RETURNS TABLE (version integer, run_cap_micros bigint, plan text, tool_revision integer, overrun text)
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN QUERY SELECT w.version, w.run_cap_micros, s.plan, s.tool_revision, w.overrun
    FROM workflows w JOIN workspaces s ON s.id = w.workspace_id WHERE w.id = workflow;
END $$;
