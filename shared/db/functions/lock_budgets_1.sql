-- Locks the budgets whose estimate a run holds, in the order of their ids.
--
-- Never changed once it is released. A change is lock_budgets_2.
CREATE FUNCTION lock_budgets_1(run text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM budgets b
  WHERE b.id IN (
    SELECT h.budget_id FROM budget_holds h WHERE h.run_id = run AND h.status = 'open' AND h.estimate_micros IS NOT NULL)
  ORDER BY b.id FOR NO KEY UPDATE;
END
$$;
