-- Nodes of the kind `workflow`: each of their steps starts a run of its own.
ALTER TABLE steps
  DROP CONSTRAINT steps_kind_check,
  ADD CONSTRAINT steps_kind_check
    CHECK (kind IN ('agent', 'tool', 'condition', 'loop', 'map', 'workflow', 'human_gate', 'merge')) NOT VALID;

ALTER TABLE runs
  DROP CONSTRAINT runs_trigger_check,
  ADD CONSTRAINT runs_trigger_check
    CHECK (trigger IN ('manual', 'webhook', 'mcp', 'schedule', 'workflow')) NOT VALID;

-- The step that started the run. A run outlives the parent that retention removes.
ALTER TABLE runs ADD COLUMN parent_run_id text;
ALTER TABLE runs ADD COLUMN parent_step_key text;
ALTER TABLE runs
  ADD CONSTRAINT runs_parent_run_id_fkey FOREIGN KEY (parent_run_id) REFERENCES runs(id) ON DELETE SET NULL NOT VALID;

-- The last attempt of that step, which started or resumed the run: an attempt that is repeated finds what it did.
ALTER TABLE runs ADD COLUMN parent_attempt integer NOT NULL DEFAULT 0;

-- 1 for a run without a parent.
ALTER TABLE runs ADD COLUMN depth integer NOT NULL DEFAULT 1;

-- Also finds the children of a run.
CREATE UNIQUE INDEX runs_one_per_step ON runs (parent_run_id, parent_step_key) WHERE parent_run_id IS NOT NULL;

ALTER TABLE outbox
  DROP CONSTRAINT outbox_kind_check,
  ADD CONSTRAINT outbox_kind_check
    CHECK (kind IN ('start', 'decision', 'cancel', 'resume', 'alert', 'child')) NOT VALID;

-- The runs below a run, at any depth.
CREATE FUNCTION runs_below(run text) RETURNS TABLE (id text) LANGUAGE plpgsql STABLE ROWS 10 AS $$
BEGIN
  RETURN QUERY WITH RECURSIVE below AS (
    SELECT r.id FROM runs r WHERE r.parent_run_id = run
    UNION ALL
    SELECT r.id FROM below b JOIN runs r ON r.parent_run_id = b.id
  )
  SELECT b.id FROM below b;
END
$$;

-- The run itself and those above it.
CREATE FUNCTION runs_above(run text) RETURNS TABLE (id text, cap_micros bigint, depth integer)
LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY WITH RECURSIVE above AS (
    SELECT r.id, r.parent_run_id, r.cost_cap_micros, r.depth FROM runs r WHERE r.id = run
    UNION ALL
    SELECT r.id, r.parent_run_id, r.cost_cap_micros, r.depth FROM above a JOIN runs r ON r.id = a.parent_run_id
  )
  SELECT a.id, a.cost_cap_micros, a.depth FROM above a;
END
$$;

-- For each cap that applies to a run, the outermost first: what the capped run and the runs below it have cost, and what
-- their steps in progress, except one, may still cost. An attempt whose worker died counts only until its claim expires.
-- Reads what is committed now, also after a wait for locks.
CREATE FUNCTION capped_spending(run text, except_step text)
RETURNS TABLE (cap_micros bigint, cost_micros bigint, pending_micros bigint, pending_unknown boolean)
LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY WITH RECURSIVE tree AS (
    SELECT a.id AS top, a.cap_micros, a.depth, a.id FROM runs_above(run) a WHERE a.cap_micros IS NOT NULL
    UNION ALL
    SELECT t.top, t.cap_micros, t.depth, r.id FROM tree t JOIN runs r ON r.parent_run_id = t.id
  )
  SELECT t.cap_micros, sum(r.cost_micros)::bigint, sum(f.micros)::bigint, bool_or(f.unknown)
  FROM tree t JOIN runs r ON r.id = t.id
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(s.expected_micros), 0) AS micros, coalesce(bool_or(s.expected_unknown), false) AS unknown
    FROM steps s
    WHERE r.status IN ('pending', 'running', 'paused') AND s.run_id = r.id AND s.status = 'running'
      AND s.claim_until > clock_timestamp() AND NOT (s.run_id = run AND s.step_key = except_step)) AS f
  GROUP BY t.top, t.cap_micros, t.depth ORDER BY t.depth;
END
$$;
