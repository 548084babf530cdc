-- Starts a run for which no further trigger has come, if it is still as the caller has read it: with the current version and the
-- current limits, from which `place` follows; null: there are none any more.
--
-- Returns whether it could, and the message to Temporal, leased to the caller; none if the run now waits because of a limit. A
-- run that is `refused` does not start, and waits no more: the caller ends it.
--
-- Never changed once it is released. A change is start_debounced_2.
CREATE FUNCTION start_debounced_1(
  run text, due timestamptz, version integer, tools integer, limits_revision integer, place json, refused boolean, lease_ms integer,
  OUT started boolean, OUT outbox_id bigint
) LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  held record;
  latest record;
  limits json;
  queued boolean := false;
BEGIN
  started := false;
  -- Until the commit, neither the version nor the limits change.
  SELECT r.workflow_id, w.limits_revision AS revision INTO held
  FROM runs r JOIN workflows w ON w.id = r.workflow_id WHERE r.id = run FOR SHARE OF w;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  SELECT * INTO latest FROM workflow_now(held.workflow_id);
  IF latest.version <> version OR latest.tool_revision <> tools OR held.revision IS DISTINCT FROM limits_revision THEN
    RETURN;
  END IF;
  SELECT l.settings INTO limits FROM workflow_limits l WHERE l.workflow_id = held.workflow_id FOR UPDATE;
  -- A trigger, a cancel or another process may have been first.
  PERFORM FROM runs r WHERE r.id = run FOR NO KEY UPDATE;
  PERFORM FROM run_places p
  WHERE p.run_id = run AND p.state = 'debounced' AND p.due_at = due AND p.due_at <= clock_timestamp() FOR UPDATE;
  IF NOT FOUND THEN
    RETURN;
  END IF;
  started := true;
  IF refused THEN
    DELETE FROM run_places p WHERE p.run_id = run;
    RETURN;
  END IF;
  UPDATE runs r SET
    workflow_version = version, limits = place, cost_cap_micros = latest.run_cap_micros, overrun = latest.overrun,
    waiting_ms = r.waiting_ms + (extract(epoch FROM clock_timestamp() - r.created_at) * 1000)::bigint, updated_at = now()
  WHERE r.id = run;
  IF place IS NULL THEN
    DELETE FROM run_places p WHERE p.run_id = run;
  ELSE
    queued := take_place_1(run, limits, 'start', '{}');
  END IF;
  IF NOT queued THEN
    INSERT INTO outbox (run_id, kind, leased_until) VALUES (run, 'start', now() + lease_ms * interval '1 ms')
    RETURNING id INTO outbox_id;
  END IF;
END
$$;
