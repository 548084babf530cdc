-- Lets another trigger join a run that waits for further ones: its input replaces that of the run, whose start moves. The caller
-- has locked the run, and the names of the events in `cancel_on`, which cancel it from now on.
--
-- Never changed once it is released. A change is join_run_2.
CREATE FUNCTION join_run_1(
  run text, version integer, input json, place json, cancel_on json, actor text, schedule text, due timestamptz, inbound text, OUT joined runs
) LANGUAGE plpgsql AS $$
#variable_conflict use_variable
BEGIN
  UPDATE runs r SET
    workflow_version = version, input = input, limits = place, cancel_on = cancel_on, updated_at = now(),
    schedule_id = coalesce(r.schedule_id, schedule), inbound_event_id = coalesce(inbound, r.inbound_event_id),
    starters = ARRAY(
      SELECT DISTINCT s FROM unnest(r.starters || starters_of_1(actor, schedule, NULL, NULL)) AS s WHERE s IS NOT NULL ORDER BY 1)
  WHERE r.id = run RETURNING r.* INTO joined;
  UPDATE run_places p SET
    due_at = least(clock_timestamp() + (place -> 'debounce' ->> 'seconds')::float8 * interval '1 s', p.latest_at)
  WHERE p.run_id = run;
  -- See note_cancel_events.
  DELETE FROM awaited_events a WHERE a.run_id = run AND a.step_key IS NULL;
  INSERT INTO awaited_events (run_id, place, workspace_id, name, path, value, match, after_seq)
  SELECT run, e.place, joined.workspace_id, e.entry ->> 'name', e.entry ->> 'path', e.entry ->> 'value', e.entry ->> 'match', n.seq
  FROM json_array_elements(cancel_on -> 'entries') WITH ORDINALITY AS e (entry, place)
  JOIN event_names n ON n.workspace_id = joined.workspace_id AND n.name = e.entry ->> 'name';
  -- The first time of a schedule is on the run that it has triggered. This one starts no second run either.
  IF due IS NOT NULL THEN
    INSERT INTO joined_ticks (schedule_id, due_at, run_id) VALUES (schedule, due, run);
  END IF;
END
$$;
