-- Writes what an execution has computed itself since its last call. The caller has locked the run, whose resumes `epoch`
-- counts, and has taken the numbers after `base` for the frames.
--
-- `control`: the control steps, one per step key; `pos` is the place of its first frame.
-- `observed`: at which workflow task (`event_id`), and as which of the run's results (`nth`), the results of steps entered the
-- state of the execution.
-- `frames`: what the control steps may cause, in order. A frame is written only if its step made the transition: `opened`
-- when it started or restarted, `closed` when it ended. So a repeated call writes each frame once.
--
-- `this_moment`: when they start and end. A step that does both with this call took no time, and one without frames has the
-- number of what follows it, so with the same moment their order is that of their keys.
--
-- Never changed once it is released. A change is write_control_3.
CREATE FUNCTION write_control_2(
  run text, epoch integer, base bigint, control json, observed json, frames json,
  this_moment timestamptz DEFAULT clock_timestamp()
) RETURNS void LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  step record;
  kept record;
  failed_before boolean;
  restarts boolean;
  opened text[] := '{}';
  closed text[] := '{}';
BEGIN
  FOR step IN
    SELECT * FROM json_to_recordset(control) AS c (
      pos bigint, step_key text, node_id text, label text, kind text, iteration integer[], output_key text, status text,
      output json, error text, caught json)
  LOOP
    SELECT s.step_key, s.status, s.epoch, s.caught INTO kept
    FROM steps s WHERE s.run_id = run AND s.step_key = step.step_key;
    -- Its error is caught now. An execution that starts from the ledger catches the same error again.
    failed_before := kept.status = 'failed' AND kept.epoch = epoch;
    CONTINUE WHEN kept.step_key IS NOT NULL AND (kept.caught OR NOT (
      (kept.status = 'running' AND step.status <> 'running')
      OR (kept.status IN ('failed', 'cancelled', 'skipped') AND kept.epoch < epoch)
      OR (failed_before AND step.caught IS NOT NULL)));

    -- A loop or a timer that a cancel closed continues as the same attempt.
    restarts := (kept.status = 'failed' AND NOT failed_before) OR (kept.status = 'cancelled' AND step.status = 'running');
    INSERT INTO steps AS s (run_id, step_key, node_id, label, kind, iteration, output_key, ordinal,
                            status, epoch, started_at, finished_at, output, error,
                            error_kind, caught, errors)
    VALUES (run, step.step_key, step.node_id, step.label, step.kind, step.iteration, step.output_key, base + step.pos,
            step.status, epoch, this_moment, CASE WHEN step.status <> 'running' THEN this_moment END, step.output, step.error,
            step.caught ->> 'kind', step.caught IS NOT NULL, coalesce((step.caught ->> 'attempts')::integer, 0))
    ON CONFLICT (run_id, step_key) DO UPDATE SET
      status = excluded.status, epoch = excluded.epoch, output = excluded.output, error = excluded.error,
      finished_at = CASE WHEN failed_before THEN s.finished_at ELSE excluded.finished_at END,
      error_kind = excluded.error_kind, caught = excluded.caught, errors = greatest(s.errors, excluded.errors),
      attempts = s.attempts + restarts::integer,
      attempt_started_at = CASE WHEN restarts THEN excluded.started_at ELSE s.attempt_started_at END,
      attempt_ended_at = CASE WHEN restarts THEN NULL ELSE s.attempt_ended_at END,
      started_at = CASE WHEN restarts THEN excluded.started_at ELSE s.started_at END;

    IF NOT coalesce(kept.status = 'running' OR failed_before, false) THEN
      opened := opened || step.step_key;
    END IF;
    IF step.status IN ('success', 'failed') AND NOT coalesce(failed_before, false) THEN
      closed := closed || step.step_key;
    END IF;
  END LOOP;

  FOR step IN SELECT * FROM json_to_recordset(observed) AS o (step_key text, event_id bigint, nth integer) LOOP
    UPDATE steps s SET event_id = coalesce(step.event_id, s.event_id), handled = coalesce(step.nth, s.handled)
    WHERE s.run_id = run AND s.step_key = step.step_key;
  END LOOP;

  -- In the order of their numbers, since each gets its time when it is inserted.
  IF json_array_length(frames) > 0 THEN
    INSERT INTO run_frames (run_id, seq, frame)
    SELECT run, base + f.place, f.value -> 'frame' FROM json_array_elements(frames) WITH ORDINALITY AS f (value, place)
    WHERE f.value ->> 'step_key' = ANY (CASE f.value ->> 'edge' WHEN 'opened' THEN opened ELSE closed END)
    ORDER BY f.place;
  END IF;
END
$$;
