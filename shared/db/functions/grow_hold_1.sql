-- Adds an amount to the estimate of a hold, if it is open. The caller has locked the budget. Returns by how much the hold has
-- grown: less than the amount, when it held more than its estimate.
--
-- Never changed once it is released. A change is grow_hold_2.
CREATE FUNCTION grow_hold_1(hold budget_holds, amount bigint) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  growth bigint;
BEGIN
  UPDATE budget_holds h SET
    estimate_micros = h.estimate_micros + amount,
    held_micros = greatest(h.held_micros, h.estimate_micros + amount),
    pending_micros = greatest(h.held_micros, h.estimate_micros + amount)
                     - greatest(h.held_micros - h.pending_micros, h.estimate_micros + amount)
  WHERE h.budget_id = hold.budget_id AND h.run_id = hold.run_id AND h.n = hold.n AND h.status = 'open'
  RETURNING new.held_micros - old.held_micros INTO growth;
  RETURN coalesce(growth, 0);
END
$$;
