-- Locks what limits a step of a run, before its room is read: the budget of its experiment, then the runs above it that have a
-- cap or a hold, from top to bottom, and the run. The holds of these runs can then only grow.
--
-- Never changed once it is released. A change is lock_limits_2.
CREATE FUNCTION lock_limits_1(run text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM experiments e WHERE e.id = budgeted_experiment(run) FOR NO KEY UPDATE;
  PERFORM FROM runs r
  WHERE r.id = ANY (ARRAY(
    SELECT a.id FROM runs_above(run) AS a
    WHERE a.cap_micros IS NOT NULL OR a.id = run OR EXISTS (
      SELECT FROM budget_holds h WHERE h.run_id = a.id AND h.status = 'open' AND h.estimate_micros IS NOT NULL)))
  ORDER BY r.depth FOR NO KEY UPDATE;
END
$$;
