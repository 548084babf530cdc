-- What of a budget is committed in the window of a hold: spent and held, without the possible cost of steps in progress beyond
-- the estimates of their runs, which the counters include. `pending` is that cost in the runs other than that of the hold;
-- `unknown`: a step of theirs has no bound.
--
-- Never changed once it is released. A change is committed_2.
CREATE FUNCTION committed_1(budget budgets, hold budget_holds, OUT committed bigint, OUT pending bigint, OUT unknown boolean)
  LANGUAGE plpgsql AS $$
DECLARE
  all_pending bigint;
BEGIN
  SELECT coalesce(sum(h.pending_micros), 0),
         coalesce(sum(h.pending_micros) FILTER (WHERE h.run_id <> hold.run_id), 0),
         coalesce(bool_or(h.pending_unknown) FILTER (WHERE h.run_id <> hold.run_id), false)
  INTO all_pending, pending, unknown
  FROM budget_holds h
  WHERE h.budget_id = budget.id AND (h.pending_micros > 0 OR h.pending_unknown) AND h.status = 'open'
    AND h.window_start = hold.window_start;
  IF budget.window_start <> hold.window_start THEN
    -- The window has passed; only its ledger rows are left.
    SELECT coalesce(sum(h.spent_micros + h.held_micros - h.pending_micros), 0) INTO committed
    FROM budget_holds h WHERE h.budget_id = budget.id AND h.window_start = hold.window_start;
  ELSIF hold.estimate_micros IS NULL THEN
    committed := budget.spent_micros;
  ELSE
    committed := budget.spent_micros + budget.reserved_micros - all_pending;
  END IF;
END
$$;
