-- Sets the holds of a run to its cost plus the possible cost of its steps in progress, where that exceeds the estimates. A
-- contained hold gives back what it has taken above that. The caller has locked the run.
--
-- Never changed once it is released. A change is recount_holds_2.
CREATE FUNCTION recount_holds_1(run text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  cost bigint := (SELECT r.cost_micros FROM runs r WHERE r.id = run);
  in_progress record;
  hold budget_holds;
  recounted budget_holds;
BEGIN
  in_progress := in_flight_1(run, '');
  FOR hold IN
    SELECT * FROM budget_holds h WHERE h.run_id = run AND h.status = 'open' AND h.estimate_micros IS NOT NULL
    ORDER BY h.budget_id
  LOOP
    CONTINUE WHEN recounted_1(hold, cost, in_progress.micros, in_progress.unknown) = hold;
    -- A run below may have given something back before the lock.
    PERFORM FROM budgets b WHERE b.id = hold.budget_id FOR NO KEY UPDATE;
    SELECT * INTO hold FROM budget_holds h WHERE h.budget_id = hold.budget_id AND h.run_id = run AND h.n = hold.n;
    recounted := recounted_1(hold, cost, in_progress.micros, in_progress.unknown);
    UPDATE budget_holds h SET
      estimate_micros = recounted.estimate_micros, held_micros = recounted.held_micros,
      pending_micros = recounted.pending_micros, pending_unknown = recounted.pending_unknown
    WHERE h.budget_id = hold.budget_id AND h.run_id = run AND h.n = hold.n;
    PERFORM move_budget_1(hold.budget_id, hold.window_start, 0, recounted.held_micros - hold.held_micros
      + return_unused_1(hold, hold.estimate_micros - recounted.estimate_micros));
  END LOOP;
END
$$;
