-- Everyone who counts as a starter of a run: who triggered it, who created or edited its schedule, and the starters of the runs
-- that it comes from, which are kept with them. Processes of earlier versions kept one of those, or none.
--
-- Never changed once it is released. A change is starters_of_2.
CREATE FUNCTION starters_of_1(actor text, schedule text, parent text, source text) RETURNS text[] LANGUAGE plpgsql AS $$
BEGIN
  IF schedule IS NULL AND parent IS NULL AND source IS NULL THEN
    RETURN array_remove(ARRAY[actor], NULL);
  END IF;
  RETURN ARRAY(
    SELECT DISTINCT started.by FROM (
      SELECT actor AS by
      UNION ALL SELECT unnest(s.created_by || s.editors) FROM schedules s WHERE s.id = schedule
      UNION ALL SELECT unnest(coalesce(r.starters, ARRAY[
        coalesce(r.starter_id, r.created_by, (SELECT s.created_by FROM schedules s WHERE s.id = r.schedule_id))]))
      FROM runs r WHERE r.id IN (parent, source)
    ) AS started WHERE started.by IS NOT NULL ORDER BY 1);
END
$$;
