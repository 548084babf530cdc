-- The lender of a contained hold: the hold that the nearest run above placed on the same budget, in the same window. Nulls
-- when that run has ended.
--
-- Never changed once it is released. A change is lender_of_2.
CREATE FUNCTION lender_of_1(hold budget_holds) RETURNS budget_holds LANGUAGE plpgsql AS $$
DECLARE
  lender budget_holds;
BEGIN
  SELECT h.* INTO lender
  FROM runs_above((SELECT r.parent_run_id FROM runs r WHERE r.id = hold.run_id)) AS a
  JOIN budget_holds h ON h.run_id = a.id
  WHERE h.budget_id = hold.budget_id AND h.window_start = hold.window_start AND h.status = 'open'
    AND h.estimate_micros IS NOT NULL AND NOT h.contained
  ORDER BY a.depth DESC LIMIT 1;
  RETURN lender;
END
$$;
