-- Gives a run that has left its slot another one, because something continues it from its pause: it is `running`, and either
-- has a slot or waits for one, by its priority and the order in which it was triggered. A run that has a slot keeps it. The caller
-- has locked the run.
--
-- Returns whether it waits. Then nothing may continue it until it gets the message `continue`.
--
-- Never changed once it is released. A change is continue_place_2.
CREATE FUNCTION continue_place_1(run text) RETURNS boolean LANGUAGE plpgsql AS $$
DECLARE
  place run_places;
  limits json;
  waits boolean := true;
BEGIN
  SELECT * INTO place FROM run_places p WHERE p.run_id = run;
  IF place.state = 'waiting' THEN
    RETURN true;
  ELSIF NOT FOUND OR place.state NOT IN ('pausing', 'away') THEN
    RETURN false;
  END IF;
  SELECT l.settings INTO limits FROM workflow_limits l WHERE l.workflow_id = place.workflow_id FOR UPDATE;
  -- Without a claim, its slot is free, and another run may have it.
  UPDATE run_places p SET state = 'holding' WHERE p.run_id = run AND p.state = 'pausing' AND EXISTS (
    SELECT FROM steps s WHERE s.run_id = run AND s.claim_until > clock_timestamp());
  IF FOUND THEN
    waits := false;
  ELSE
    -- Out of the count of its own key.
    UPDATE run_places p SET state = 'away' WHERE p.run_id = run;
    waits := (place_blocked_1(place.workflow_id, limits, place.key, NULL)).blocked_by IS NOT NULL OR EXISTS (
      SELECT FROM (
        SELECT DISTINCT p.rate_key FROM run_places p
        WHERE p.workflow_id = place.workflow_id AND p.key = place.key AND p.state = 'waiting'
          AND (p.priority > place.priority OR p.priority = place.priority AND p.seq < place.seq)) AS before
      WHERE before.rate_key IS NULL
         OR (place_blocked_1(place.workflow_id, limits, NULL, before.rate_key)).blocked_by IS NULL);
    UPDATE run_places p SET
      state = CASE WHEN waits THEN 'waiting' ELSE 'holding' END, kind = 'continue', payload = '{}', rate_key = NULL,
      queued_at = clock_timestamp(), taken_at = clock_timestamp()
    WHERE p.run_id = run;
  END IF;
  UPDATE runs r SET
    waiting_ms = r.waiting_ms + (extract(epoch FROM clock_timestamp() - coalesce(r.phase_since, r.created_at)) * 1000)::bigint,
    phase_since = clock_timestamp(), status = 'running', at_rest = waits, updated_at = now(), lost_since = NULL
  WHERE r.id = run AND r.status = 'paused';
  RETURN waits;
END
$$;
