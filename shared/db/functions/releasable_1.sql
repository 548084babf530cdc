-- What the steps in progress of the other runs that share a hold may leave of it: the lender's own hold, or those that are
-- contained in it.
--
-- Never changed once it is released. A change is releasable_2.
CREATE FUNCTION releasable_1(hold budget_holds) RETURNS bigint LANGUAGE plpgsql AS $$
DECLARE
  top text := CASE WHEN hold.contained THEN (lender_of_1(hold)).run_id ELSE hold.run_id END;
BEGIN
  -- A step without a bound uses up everything, so it leaves the rest of the estimate.
  RETURN (
    SELECT coalesce(sum(least(
      greatest(0, h.estimate_micros - (r.cost_micros - h.base_micros)), CASE WHEN NOT f.unknown THEN f.micros END)), 0)
    FROM (SELECT top AS id UNION ALL SELECT w.id FROM runs_below(top) AS w) AS t
    JOIN runs r ON r.id = t.id AND r.id <> hold.run_id
    JOIN budget_holds h ON h.run_id = r.id AND h.budget_id = hold.budget_id AND h.status = 'open'
      AND h.window_start = hold.window_start AND h.estimate_micros IS NOT NULL AND (h.contained OR h.run_id = top)
    CROSS JOIN LATERAL in_flight_1(r.id, '') AS f);
END
$$;
