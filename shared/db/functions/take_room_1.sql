-- Takes what a step may need beyond the contained holds of its run from their lenders: at most what their own cost and steps
-- in progress leave. `most_micros` null: all of it. The caller has locked the limits (lock_limits_1).
--
-- Never changed once it is released. A change is take_room_2.
CREATE FUNCTION take_room_1(run text, step text, most_micros bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  cost bigint;
  in_progress bigint;
  hold budget_holds;
  lender budget_holds;
  free bigint;
  amount bigint;
BEGIN
  SELECT r.cost_micros, f.micros INTO cost, in_progress
  FROM runs r CROSS JOIN LATERAL in_flight_1(run, step) AS f WHERE r.id = run AND NOT r.budget_exempt;
  FOR hold IN
    SELECT * FROM budget_holds h WHERE h.run_id = run AND h.status = 'open' AND h.contained AND cost IS NOT NULL
    ORDER BY h.budget_id
  LOOP
    PERFORM FROM budgets b WHERE b.id = hold.budget_id FOR NO KEY UPDATE;
    lender := lender_of_1(hold);
    CONTINUE WHEN lender.run_id IS NULL;
    SELECT greatest(0, lender.estimate_micros - (r.cost_micros - lender.base_micros) - f.micros) INTO free
    FROM runs r CROSS JOIN LATERAL in_flight_1(r.id, '') AS f WHERE r.id = lender.run_id;
    amount := least(free, CASE WHEN most_micros IS NOT NULL THEN
      greatest(0, cost - hold.base_micros + in_progress + most_micros - hold.estimate_micros) END);
    CONTINUE WHEN amount = 0;
    UPDATE budget_holds h SET estimate_micros = h.estimate_micros - amount, held_micros = h.held_micros - amount
    WHERE h.budget_id = lender.budget_id AND h.run_id = lender.run_id AND h.n = lender.n;
    PERFORM move_budget_1(hold.budget_id, hold.window_start, 0, grow_hold_1(hold, amount) - amount);
  END LOOP;
END
$$;
