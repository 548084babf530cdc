-- Begins a step: claims it for one attempt, and writes the control steps that came with the call. With a result (`done`) it
-- begins and ends at once. Called by shared/db/runs/steps.ts.
--
-- Whatever changes the status of a step locks its run first. So what is read after the lock stays so until the commit.
-- A name without a table is an argument or a variable.
--
-- Returns one of:
--   begun      errors, attempts, generation, epoch, budgeted
--   stale      the policies have changed since the step was judged; nothing was written
--   finished   output: the step has succeeded, whatever became of its run
--   failed     error, kind, attempts: the step has failed for good
--   blocked    a cap or a budget is exhausted: see run_limits_1
--   limited    its possible cost must be reserved first, by the transaction that calls this again with `counted`
--   refused    the run has ended, was deleted or belongs to another execution, or the step cannot begin again
--
-- Never changed once it is released: processes of the version before call it during an update. A change is begin_step_2.
CREATE FUNCTION begin_step_1(
  run text, workspace text, execution text,
  -- What came with the call: see write_control_1.
  control json, observed json, frames json,
  -- The step, and its place in an agent with tools.
  step text, node text, label text, kind text, iteration integer[], output_key text, queued_at timestamptz, input json,
  agent_step text, turn integer, call_index integer, call_tool text,
  -- The policies' verdicts on it, and their revision; null: neither policies nor limits apply, since the result is recorded, or
  -- the attempt had begun before.
  verdicts json, revision integer,
  -- Its claim; and the number of an attempt whose claim a crash of the database has lost, otherwise null.
  claim text, claim_ms integer, attempt integer,
  -- Whether it costs nothing; whether it is counted, since the limits were checked: then with so much, null for unknown.
  free boolean, counted boolean, most_micros bigint,
  -- The status of the result that it has, otherwise null. A recorded result counts its errors and names its run.
  done text, output json, error text, error_kind text, errors integer, model text, reused_from text,
  -- The frames of its start and its end, if it has any.
  started json, ended json,
  OUT outcome text, OUT facts json
) LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  held record;
  kept record;
  limits record;
  budgeted boolean := false;
  accepted boolean;
  opened boolean;
  begun record;
  -- The numbers of the last frame before this call, and before the step.
  base bigint;
  own bigint;
  this_moment timestamptz;
BEGIN
  -- The run accepts the work while it is open and no resume has replaced this execution.
  SELECT r.status, r.superseded, r.resuming, r.frame_seq, r.resumed_count INTO held FROM runs r
  WHERE r.id = run AND r.workspace_id = workspace FOR NO KEY UPDATE;
  accepted := held.status IN ('pending', 'running', 'paused') AND NOT (execution = ANY (held.superseded))
              AND NOT held.resuming;
  IF accepted THEN
    -- The policies are those of the verdicts, also after the wait.
    IF revision <> (SELECT w.policy_revision FROM workspaces w WHERE w.id = workspace) THEN
      outcome := 'stale';
      RETURN;
    END IF;

    -- The run runs. Its control steps come first.
    base := held.frame_seq;
    own := base + json_array_length(frames);
    UPDATE runs r SET
      frame_seq = own + num_nonnulls(started, ended),
      waiting_ms = r.waiting_ms + CASE WHEN r.status = 'paused' THEN
        (extract(epoch FROM clock_timestamp() - coalesce(r.phase_since, r.created_at)) * 1000)::bigint ELSE 0 END,
      phase_since = CASE WHEN r.status = 'running' AND r.phase_since IS NOT NULL
                         THEN r.phase_since ELSE clock_timestamp() END,
      started_at = coalesce(r.started_at, clock_timestamp()),
      status = 'running', updated_at = now(), lost_since = NULL, temporal_run_id = execution
    WHERE r.id = run;
    PERFORM write_control_1(run, held.resumed_count, base, control, observed, frames);
  END IF;

  -- The step, as earlier attempts have left it. One that has failed begins again after a resume.
  SELECT s.step_key, s.status, s.epoch, s.attempts, s.errors, s.forgiven, s.error, s.error_kind, s.caught, s.policy INTO kept
  FROM steps s WHERE s.run_id = run AND s.step_key = step;
  IF kept.status = 'success' THEN
    outcome := 'finished';
    facts := json_build_object('output', (SELECT s.output FROM steps s WHERE s.run_id = run AND s.step_key = step));
    RETURN;
  END IF;
  IF accepted AND kept.status = 'failed' AND (kept.caught OR kept.epoch = held.resumed_count) THEN
    outcome := 'failed';
    facts := json_build_object('error', coalesce(kept.error, 'failed'), 'kind', coalesce(kept.error_kind, 'node'),
                               'attempts', greatest(1, kept.errors - kept.forgiven));
    RETURN;
  END IF;
  IF accepted IS NOT TRUE OR kept.status = 'skipped' OR kept.attempts >= attempt
     OR (kept.status = 'cancelled' AND kept.epoch = held.resumed_count) THEN
    outcome := 'refused';
    RETURN;
  END IF;

  -- The caps and the budgets.
  IF revision IS NOT NULL THEN
    limits := run_limits_1(run);
    budgeted := limits.applies;
    IF NOT counted AND limits.stop IS NOT NULL THEN
      outcome := 'blocked';
      facts := limits.stop;
      RETURN;
    END IF;
    IF NOT counted AND NOT free AND limits.reserves THEN
      outcome := 'limited';
      RETURN;
    END IF;
  END IF;

  -- The claim: a new step, or another attempt at it. One that begins and ends at once took no time.
  this_moment := clock_timestamp();
  opened := kept.step_key IS NULL OR kept.epoch < held.resumed_count;
  INSERT INTO steps AS s (
    run_id, step_key, node_id, label, kind, iteration, output_key, ordinal, status, epoch,
    claim, claim_until, queued_at, input, output,
    started_at, finished_at, policy, expected_micros,
    expected_unknown, attempts, parent_step_key, turn, call_index, call_tool,
    error, error_kind, errors, model, reused_from)
  VALUES (
    run, step, node, label, kind, iteration, output_key, own + 1, coalesce(done, 'running'), held.resumed_count,
    claim, this_moment + claim_ms * interval '1 ms', queued_at, input, output,
    this_moment, CASE WHEN done IS NOT NULL THEN this_moment END, verdicts, most_micros,
    counted AND most_micros IS NULL, coalesce(attempt, 1), agent_step, turn, call_index, call_tool,
    error, error_kind, coalesce(errors, 0), model, reused_from)
  ON CONFLICT (run_id, step_key) DO UPDATE SET
    status = excluded.status, epoch = excluded.epoch, claim = excluded.claim, claim_until = excluded.claim_until,
    queued_at = CASE WHEN opened THEN excluded.queued_at ELSE s.queued_at END,
    input = excluded.input, output = excluded.output,
    -- A call that waited for approval has no attempt yet.
    started_at = CASE WHEN opened OR s.attempts = 0 THEN excluded.started_at ELSE s.started_at END,
    attempt_started_at = excluded.started_at, attempt_ended_at = NULL, finished_at = excluded.finished_at,
    -- The verdicts of earlier attempts since the last resume, and the new ones.
    policy = CASE WHEN opened OR s.policy::text = '[]' THEN excluded.policy ELSE (s.policy::jsonb || (
      SELECT coalesce(jsonb_agg(v), '[]') FROM jsonb_array_elements(excluded.policy::jsonb) AS v
      WHERE NOT s.policy::jsonb @> jsonb_build_array(v)))::json END,
    expected_micros = excluded.expected_micros, expected_unknown = excluded.expected_unknown,
    attempts = coalesce(attempt, s.attempts + 1),
    error = excluded.error, error_kind = excluded.error_kind, model = coalesce(excluded.model, s.model),
    -- A resume forgives the errors before it.
    errors = CASE WHEN errors IS NULL THEN s.errors ELSE errors + CASE WHEN opened THEN s.errors ELSE s.forgiven END END,
    forgiven = CASE WHEN opened THEN s.errors ELSE s.forgiven END,
    reused_from = excluded.reused_from
  RETURNING s.errors, s.attempts, s.generation INTO begun;
  outcome := 'begun';
  facts := json_build_object('errors', begun.errors, 'attempts', begun.attempts, 'generation', begun.generation,
                             'epoch', held.resumed_count, 'budgeted', budgeted);

  -- The verdicts that earlier attempts had not.
  IF json_array_length(verdicts) > 0 THEN
    PERFORM record_verdicts_1(run, node, verdicts, CASE WHEN opened THEN '[]' ELSE kept.policy::jsonb END);
  END IF;

  -- The frames.
  INSERT INTO run_frames (run_id, seq, frame)
  SELECT run, own + f.place, f.frame
  FROM (VALUES (1, started, opened), (2, ended, done IS NOT NULL)) AS f (place, frame, moved)
  WHERE f.frame IS NOT NULL AND f.moved ORDER BY f.place;
END
$$;
