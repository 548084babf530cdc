-- Adds amounts to the counters of a budget: what was spent, and what is reserved for the holds. The counters belong to the
-- newest of its windows. The caller has locked the budget and has changed its ledger (`budget_holds`) by the same amounts, so
-- the counters of a window always equal the sums of its rows.
--
-- Never changed once it is released. A change is move_budget_2.
CREATE FUNCTION move_budget_1(budget text, in_window timestamptz, spent bigint, reserved bigint)
  RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF spent = 0 AND reserved = 0 THEN
    RETURN;
  END IF;
  UPDATE budgets b SET window_start = in_window, spent_micros = spent, reserved_micros = greatest(0, reserved)
  WHERE b.id = budget AND b.window_start < in_window;
  IF NOT FOUND THEN
    UPDATE budgets b SET spent_micros = b.spent_micros + spent, reserved_micros = greatest(0, b.reserved_micros + reserved)
    WHERE b.id = budget AND b.window_start = in_window;
  END IF;
END
$$;
