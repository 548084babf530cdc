-- Closes holds of runs that were deleted, or have ended without closing them: those opened before a time, of at most so many
-- runs. Returns how many were closed.
--
-- Never changed once it is released. A change is reap_holds_2.
CREATE FUNCTION reap_holds_1(opened_before timestamptz, most integer) RETURNS integer LANGUAGE plpgsql AS $$
DECLARE
  orphans text[];
BEGIN
  orphans := ARRAY(
    SELECT h.run_id FROM budget_holds h LEFT JOIN runs r ON r.id = h.run_id
    WHERE h.status = 'open' AND h.opened_at < opened_before AND (r.id IS NULL OR r.status IN ('success', 'failed'))
    ORDER BY h.opened_at LIMIT most);
  -- A resume opens other holds. It waits for this lock, or was first.
  PERFORM FROM runs r WHERE r.id = ANY (orphans) ORDER BY r.id FOR NO KEY UPDATE;
  orphans := ARRAY(
    SELECT o.id FROM unnest(orphans) AS o (id) LEFT JOIN runs r ON r.id = o.id
    WHERE r.id IS NULL OR r.status IN ('success', 'failed'));
  RETURN close_holds_1(orphans, 'reaped');
END
$$;
