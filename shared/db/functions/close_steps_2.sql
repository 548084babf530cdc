-- Cancels the steps, gates and waits that are still open in a run that ends, and takes its steps out of the queues of limits. Claims
-- stay: a running attempt still stores its result and cost, which a resume can use; the claim of a dead worker expires.
--
-- Never changed once it is released. A change is close_steps_3.
CREATE FUNCTION close_steps_2(run text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  scopes text[];
BEGIN
  UPDATE steps s SET status = 'cancelled', finished_at = clock_timestamp()
  WHERE s.run_id = run AND s.status IN ('running', 'paused');
  -- In order, since what comes from outside also locks several.
  UPDATE run_waits w SET status = 'cancelled' FROM (
    SELECT o.step_key FROM run_waits o WHERE o.run_id = run AND o.status = 'open' ORDER BY o.step_key FOR UPDATE) AS open
  WHERE w.run_id = run AND w.step_key = open.step_key;
  UPDATE gates g SET status = 'cancelled' WHERE g.run_id = run AND g.status = 'open';
  -- A free call may have been kept for one of its steps.
  WITH gone AS (
    DELETE FROM call_waits w WHERE w.run_id = run RETURNING w.scope
  )
  SELECT array_agg(DISTINCT g.scope) INTO scopes FROM gone g;
  IF scopes IS NOT NULL THEN
    PERFORM wake_calls_1(scopes, NULL);
  END IF;
END
$$;
