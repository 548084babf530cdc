-- Gives a run under limits its place: it starts if nothing keeps it and nobody with its keys comes before it, else it gets a place in
-- the queue, where `message` and `payload` are what Temporal gets when it starts. A run that continues (`message` is not `start`)
-- takes no token of the rate. The caller has locked the row of the workflow's limits, and the run. A run whose earlier slot is not
-- free yet keeps it.
--
-- Returns whether it waits.
--
-- Never changed once it is released. A change is take_place_2.
CREATE FUNCTION take_place_1(run text, limits json, message text, payload json) RETURNS boolean LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  place record;
  blocked record;
  waits boolean;
BEGIN
  SELECT r.workspace_id, r.workflow_id, r.limits ->> 'key' AS key, (r.limits ->> 'priority')::integer AS priority,
         CASE WHEN message = 'start' THEN r.limits ->> 'rate_key' END AS rate_key
  INTO place FROM runs r WHERE r.id = run;
  -- Without a claim, its slot is free, and another run may have it.
  UPDATE run_places p SET state = 'holding' WHERE p.run_id = run AND p.state = 'leaving' AND EXISTS (
    SELECT FROM steps s WHERE s.run_id = run AND s.claim_until > clock_timestamp());
  IF FOUND THEN
    RETURN false;
  END IF;
  DELETE FROM run_places p WHERE p.run_id = run;
  SELECT * INTO blocked FROM place_blocked_1(place.workflow_id, limits, place.key, place.rate_key);
  waits := blocked.blocked_by IS NOT NULL OR EXISTS (
    SELECT FROM run_places p
    WHERE p.workflow_id = place.workflow_id AND p.key IS NOT DISTINCT FROM place.key
      AND p.rate_key IS NOT DISTINCT FROM place.rate_key AND p.state = 'waiting' AND p.priority >= place.priority);
  IF waits OR place.key IS NOT NULL THEN
    INSERT INTO run_places (run_id, workspace_id, workflow_id, key, rate_key, priority, state, kind, payload, taken_at)
    VALUES (run, place.workspace_id, place.workflow_id, place.key, place.rate_key, place.priority,
            CASE WHEN waits THEN 'waiting' ELSE 'holding' END, message, payload, CASE WHEN NOT waits THEN clock_timestamp() END);
  END IF;
  IF NOT waits AND place.rate_key IS NOT NULL THEN
    INSERT INTO rate_tokens (workflow_id, key) VALUES (place.workflow_id, place.rate_key);
  ELSIF waits AND place.rate_key IS NOT NULL THEN
    INSERT INTO rate_queues AS q (workspace_id, workflow_id, key, due_at)
    VALUES (place.workspace_id, place.workflow_id, place.rate_key, coalesce(nullif(blocked.due_at, '-infinity'), clock_timestamp()))
    ON CONFLICT (workflow_id, key) DO UPDATE SET due_at = least(q.due_at, excluded.due_at);
  END IF;
  RETURN waits;
END
$$;
