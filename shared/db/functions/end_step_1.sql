-- Ends an attempt at a step: books what it has cost, and lets it decide the step if it still holds the claim. Called by
-- shared/db/runs/step-ends.ts.
--
-- Whatever changes the status of a step locks its run first. So what is read after the lock stays so until the commit.
-- A name without a table is an argument or a variable.
--
-- Returns
--   known    false, with nothing written, when the run was deleted, or the ledger has neither this attempt nor a later one: a
--            crash of the database has lost its claim
--   status   the status of the step now; null when another attempt decides it, or it had ended
--   tries    the errors since the last resume
--
-- Never changed once it is released: processes of the version before call it during an update. A change is end_step_2.
CREATE FUNCTION end_step_1(
  run text, step text, claim text,
  -- The number of the attempt, if its claim can be lost; null: the claim is in the ledger.
  attempt integer,
  -- Whether its possible cost was reserved.
  counted boolean,
  -- success, failed, cancelled, or released: while the run is open, the step waits for its next attempt.
  result text, output json, frame json,
  -- An error: whether there is another attempt, while the tries are fewer than `max_attempts`. After a definite response it
  -- needs a new idempotency key.
  error text, error_kind text, retryable boolean, max_attempts integer, definite boolean,
  cost_micros bigint, model text, usage json, unpriced boolean, cost_estimated boolean,
  OUT known boolean, OUT status text, OUT tries integer
) LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  held record;
  kept record;
  open boolean;
BEGIN
  -- The attempt, in the locked run.
  PERFORM FROM runs r WHERE r.id = run FOR NO KEY UPDATE;
  SELECT s.status, s.claim, s.attempts, s.errors, s.forgiven INTO kept FROM steps s WHERE s.run_id = run AND s.step_key = step;
  known := attempt IS NULL OR coalesce(kept.attempts >= attempt, false);
  IF NOT known THEN
    RETURN;
  END IF;

  -- Its cost, however late it comes.
  held := book_cost_1(run, cost_micros);
  IF held.status IS NULL THEN
    known := false;
    RETURN;
  END IF;
  IF kept.claim IS DISTINCT FROM claim OR kept.status NOT IN ('running', 'cancelled') THEN
    -- Another attempt decides. The cost is added to the step, and to the attempt if a later one has replaced it.
    UPDATE steps s SET cost_micros = s.cost_micros + cost_micros, unpriced = s.unpriced OR unpriced,
                       cost_estimated = s.cost_estimated OR cost_estimated
    WHERE s.run_id = run AND s.step_key = step;
    UPDATE step_attempts a SET cost_micros = a.cost_micros + cost_micros
    WHERE a.run_id = run AND a.step_key = step AND a.claim = claim AND cost_micros > 0;
  ELSE
    -- The end of the run cancels the step and leaves the claim, so that the attempt can still store its result.
    open := held.status IN ('pending', 'running', 'paused');
    tries := kept.errors - kept.forgiven + (result = 'failed')::integer;
    status := CASE
      WHEN result = 'failed' AND (NOT retryable OR tries >= max_attempts) THEN 'failed'
      WHEN result NOT IN ('failed', 'released') THEN result
      WHEN open THEN 'running'
      ELSE 'cancelled' END;
    UPDATE steps s SET
      status = status, claim = NULL, claim_until = NULL, output = output,
      cost_micros = s.cost_micros + cost_micros, model = coalesce(model, s.model), usage = coalesce(usage, s.usage),
      unpriced = s.unpriced OR unpriced, cost_estimated = s.cost_estimated OR cost_estimated,
      error = coalesce(error, s.error), error_kind = coalesce(error_kind, s.error_kind),
      errors = s.errors + (result = 'failed')::integer, generation = s.generation + definite::integer,
      finished_at = CASE WHEN status <> 'running' THEN clock_timestamp() END,
      attempt_ended_at = CASE WHEN status = 'running' OR result = 'failed' THEN clock_timestamp() END
    WHERE s.run_id = run AND s.step_key = step;
    IF open AND frame IS NOT NULL AND status IN ('success', 'failed') THEN
      INSERT INTO run_frames (run_id, seq, frame) VALUES (run, held.frame_seq, frame);
    END IF;
  END IF;

  -- Its actual cost instead of the reserved one.
  IF counted THEN
    PERFORM recount_holds_1(run);
  END IF;
END
$$;
