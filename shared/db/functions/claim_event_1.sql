-- Claims an event of a workflow for a run. Returns false when another run has it and received it within the window. Waits
-- for a transaction that has claimed it.
--
-- A separate UPDATE takes over an event past its window: ON CONFLICT DO UPDATE would lock the row for every duplicate, and
-- each would wait for a disk write before the next could read it.
--
-- Never changed once it is released. A change is claim_event_2.
CREATE FUNCTION claim_event_1(workflow text, event text, window_seconds integer, run text)
  RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  UPDATE webhook_events e SET run_id = run, received_at = now()
  WHERE e.workflow_id = workflow AND e.event_id = event
    AND e.received_at < now() - window_seconds * interval '1 second';
  IF NOT FOUND THEN
    INSERT INTO webhook_events (workflow_id, event_id, run_id) VALUES (workflow, event, run) ON CONFLICT DO NOTHING;
  END IF;
  RETURN FOUND;
END
$$;
