-- Ends a run with success. Called by shared/db/runs/settlements.ts. A name without a table is an argument or a variable.
--
-- Returns what the run has cost, whether another run started it, and whether it had limits; nulls, with nothing written, when the run does not accept
-- it from this execution, or its checks must be evaluated first.
--
-- Never changed once it is released: processes of the version before call it during an update. A change is settle_run_3.
CREATE FUNCTION settle_run_2(
  run text, execution text,
  -- What came with the call: see write_control_2. `last`: the frames of the end.
  control json, observed json, frames json, last json,
  -- `outputs` as for whole_state_1.
  output json, state json, outputs json,
  -- The results of the checks, and the run with which they were evaluated: status, cost_micros, active_ms, phase_us and
  -- duration_ms; null: there are no checks.
  evals json, scored json,
  -- The id of its event, and a setting for that: see queue_events_1.
  event text, most_pending integer,
  OUT cost_micros bigint, OUT has_parent boolean, OUT has_slot boolean
) LANGUAGE plpgsql AS $$
DECLARE
  held record;
  base bigint;
BEGIN
  -- The run accepts it while it is open and no resume has replaced this execution.
  SELECT r.status, r.superseded, r.resuming, r.workspace_id, r.workflow_id, r.created_at, r.frame_seq, r.resumed_count,
         r.rehearsal, r.parent_run_id, r.limits, r.cost_micros, r.active_ms, coalesce(r.phase_since, r.created_at) AS since,
         (extract(epoch FROM r.phase_since) * 1000000)::bigint AS phase_us
  INTO held FROM runs r WHERE r.id = run FOR NO KEY UPDATE;
  IF NOT FOUND OR held.status NOT IN ('pending', 'running', 'paused') OR execution = ANY (held.superseded)
     OR held.resuming THEN
    RETURN;
  END IF;

  -- Its checks were evaluated with the run as it is: a lost attempt may have booked its cost since. Or it has none.
  IF scored IS NULL THEN
    PERFORM FROM workflows w WHERE w.id = held.workflow_id AND w.checks::text = '[]';
    IF NOT FOUND THEN
      RETURN;
    END IF;
  ELSIF (held.status, held.cost_micros, held.active_ms, held.phase_us) IS DISTINCT FROM (
    scored ->> 'status', (scored ->> 'cost_micros')::bigint, (scored ->> 'active_ms')::bigint,
    (scored ->> 'phase_us')::bigint) THEN
    RETURN;
  END IF;

  -- The control steps. What is still open then is cancelled.
  base := held.frame_seq;
  PERFORM write_control_2(run, held.resumed_count, base, control, observed, frames);
  PERFORM close_steps_2(run);

  -- The run and its clocks.
  base := base + json_array_length(frames);
  UPDATE runs r SET
    status = 'success', output = settle_run_2.output, state = whole_state_1(run, settle_run_2.state, outputs),
    evals = settle_run_2.evals, error = NULL, failure = NULL,
    active_ms = coalesce((scored ->> 'duration_ms')::bigint, r.active_ms + CASE WHEN r.status = 'running' AND NOT r.at_rest THEN
      (extract(epoch FROM clock_timestamp() - held.since) * 1000)::bigint ELSE 0 END),
    waiting_ms = r.waiting_ms + CASE WHEN r.status = 'paused' OR r.at_rest THEN
      (extract(epoch FROM clock_timestamp() - held.since) * 1000)::bigint ELSE 0 END,
    phase_since = NULL, at_rest = false, started_at = coalesce(r.started_at, clock_timestamp()), finished_at = clock_timestamp(),
    updated_at = now(), lost_since = NULL, frame_seq = base + json_array_length(last),
    temporal_run_id = coalesce(nullif(execution, ''), r.temporal_run_id)
  WHERE r.id = run;

  -- Its holds become spent. Rehearsals do not count in the usage.
  PERFORM close_holds_1(ARRAY[run], 'settled');
  IF held.rehearsal IS NULL THEN
    INSERT INTO usage_deltas (workspace_id, day, succeeded, evaluated, checks_passed, checks_total)
    VALUES (held.workspace_id, held.created_at::date, 1, (settle_run_2.evals IS NOT NULL)::integer,
            coalesce((settle_run_2.evals ->> 'passed')::integer, 0),
            coalesce((settle_run_2.evals ->> 'total')::integer, 0));
  END IF;
  INSERT INTO run_frames (run_id, seq, frame)
  SELECT run, base + f.place, f.value FROM json_array_elements(last) WITH ORDINALITY AS f (value, place) ORDER BY f.place;

  PERFORM announce_end_1(run, event, 'run.completed', most_pending, true);
  cost_micros := held.cost_micros;
  has_parent := held.parent_run_id IS NOT NULL;
  has_slot := held.limits IS NOT NULL;
END
$$;
