-- Closes the open holds of runs that have ended, or were deleted: the cost since a hold was placed becomes spent, in the window
-- of the hold. A contained hold gives the rest back. The caller has locked the runs. A hold closes only once.
--
-- Returns how many were closed.
--
-- Never changed once it is released. A change is close_holds_2.
CREATE FUNCTION close_holds_1(ended text[], new_status text) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  hold budget_holds;
  cost bigint;
  spent bigint;
  closed integer := 0;
BEGIN
  FOR hold IN
    SELECT * FROM budget_holds h WHERE h.run_id = ANY (ended) AND h.status = 'open' ORDER BY h.budget_id, h.run_id
  LOOP
    PERFORM FROM budgets b WHERE b.id = hold.budget_id FOR NO KEY UPDATE;
    -- A run below, which is closed before, may have given something back.
    SELECT * INTO hold FROM budget_holds h WHERE h.budget_id = hold.budget_id AND h.run_id = hold.run_id AND h.n = hold.n;
    CONTINUE WHEN hold.status IS DISTINCT FROM 'open';
    spent := greatest(0, coalesce((SELECT r.cost_micros FROM runs r WHERE r.id = hold.run_id), 0) - hold.base_micros);
    UPDATE budget_holds h SET status = new_status, closed_at = now(), held_micros = 0, pending_micros = 0,
                              pending_unknown = false, spent_micros = spent
    WHERE h.budget_id = hold.budget_id AND h.run_id = hold.run_id AND h.n = hold.n;
    PERFORM move_budget_1(hold.budget_id, hold.window_start, spent,
                          return_unused_1(hold, hold.estimate_micros - spent) - hold.held_micros);
    closed := closed + 1;
  END LOOP;
  RETURN closed;
END
$$;
