-- Queues what follows from the end of a run: the event for webhook endpoints, unless it is a rehearsal, and the notice for the
-- run that started it, whose step looks at it again. Without an endpoint that wants the event, nothing is computed for it.
--
-- Never changed once it is released. A change is announce_end_2.
CREATE FUNCTION announce_end_1(run text, event text, event_type text, most_pending integer, tells_parent boolean)
  RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  workspace text;
BEGIN
  SELECT r.workspace_id INTO workspace FROM runs r
  WHERE r.id = run AND r.rehearsal IS NULL AND EXISTS (
    SELECT FROM data_endpoints p WHERE p.workspace_id = r.workspace_id AND p.events && ARRAY[event_type]);
  IF FOUND THEN
    PERFORM queue_events_1(workspace, json_build_array(json_build_object(
      'id', event, 'type', event_type, 'data', json_build_object('run', run_of_event_1(run)))), NULL, most_pending);
  END IF;
  IF tells_parent THEN
    INSERT INTO outbox (run_id, kind, payload)
    SELECT r.parent_run_id, 'child', json_build_object('step_key', r.parent_step_key)
    FROM runs r WHERE r.id = run AND r.parent_run_id IS NOT NULL;
  END IF;
END
$$;
