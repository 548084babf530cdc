-- Counts a run against the monthly quota of a workspace: `run_limit` runs on this plan, or null for no limit. A limited plan
-- counts in shard 0, whose row is the gate. An unlimited one counts in 16 others, so that concurrent triggers do not wait
-- for each other.
--
-- Raises `quota` with limit, plan and used.
--
-- Never changed once it is released. A change is count_run_2.
CREATE FUNCTION count_run_1(workspace text, plan text, run_limit bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  this_month date := date_trunc('month', now() AT TIME ZONE 'UTC')::date;
  -- Counted while the plan was unlimited, and all that is visible without a lock.
  unlimited bigint;
  seen bigint;
BEGIN
  IF run_limit IS NULL THEN
    INSERT INTO run_counters AS c (workspace_id, month, shard, runs)
    VALUES (workspace, this_month, 1 + floor(random() * 16)::int, 1)
    ON CONFLICT ON CONSTRAINT run_counters_pkey DO UPDATE SET runs = c.runs + 1;
    RETURN;
  END IF;
  SELECT coalesce(sum(c.runs) FILTER (WHERE c.shard > 0), 0), coalesce(sum(c.runs), 0) INTO unlimited, seen
  FROM run_counters c WHERE c.workspace_id = workspace AND c.month = this_month;
  -- First without the lock: a flood of refused triggers must not queue for the row.
  IF seen < run_limit THEN
    INSERT INTO run_counters AS c (workspace_id, month, shard, runs) VALUES (workspace, this_month, 0, 1)
    ON CONFLICT ON CONSTRAINT run_counters_pkey DO UPDATE SET runs = c.runs + 1 WHERE c.runs + unlimited < run_limit;
    IF FOUND THEN
      RETURN;
    END IF;
  END IF;
  PERFORM refuse('quota', json_build_object('limit', run_limit, 'plan', plan, 'used', greatest(run_limit, seen)));
END
$$;
