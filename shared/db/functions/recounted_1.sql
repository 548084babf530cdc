-- An open hold with an estimate, as it should be for what its run has cost and what its steps in progress may cost.
--
-- Never changed once it is released. A change is recounted_2.
CREATE FUNCTION recounted_1(hold budget_holds, cost bigint, in_progress bigint, unknown boolean)
  RETURNS budget_holds LANGUAGE plpgsql AS $$
DECLARE
  used bigint := cost - hold.base_micros;
BEGIN
  hold.pending_unknown := unknown AND used >= hold.estimate_micros;
  IF hold.contained AND NOT unknown THEN
    hold.estimate_micros := least(hold.estimate_micros, used + in_progress);
  END IF;
  hold.held_micros := greatest(hold.estimate_micros, used + in_progress);
  hold.pending_micros := hold.held_micros - greatest(hold.estimate_micros, used);
  RETURN hold;
END
$$;
