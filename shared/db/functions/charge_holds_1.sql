-- Charges the holds that a run placed at its start or its n-th resume with a cost, which makes `total` with what it has cost
-- before. An open hold with an estimate grows when the run has cost more than it holds. A closed one has spent it. The caller
-- has locked the run.
--
-- Never changed once it is released. A change is charge_holds_2.
CREATE FUNCTION charge_holds_1(run text, n integer, total bigint, cost bigint) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  hold budget_holds;
  moved record;
BEGIN
  FOR hold IN
    SELECT * FROM budget_holds h WHERE h.run_id = run AND h.n = charge_holds_1.n ORDER BY h.budget_id
  LOOP
    -- Nobody takes from it while the run is locked, so the budget is not locked while the hold suffices.
    CONTINUE WHEN hold.status = 'open'
      AND (hold.estimate_micros IS NULL OR hold.held_micros >= total - hold.base_micros);
    PERFORM FROM budgets b WHERE b.id = hold.budget_id FOR NO KEY UPDATE;
    UPDATE budget_holds h SET
      held_micros = CASE WHEN h.status = 'open' THEN greatest(h.held_micros, total - h.base_micros) ELSE 0 END,
      spent_micros = CASE WHEN h.status = 'open' THEN h.spent_micros ELSE h.spent_micros + cost END
    WHERE h.budget_id = hold.budget_id AND h.run_id = run AND h.n = hold.n
    RETURNING new.spent_micros - old.spent_micros AS spent, new.held_micros - old.held_micros AS reserved INTO moved;
    PERFORM move_budget_1(hold.budget_id, hold.window_start, moved.spent, moved.reserved);
  END LOOP;
END
$$;
