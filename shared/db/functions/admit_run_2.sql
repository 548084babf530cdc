-- Admits a run: the only way to create one, for all triggers. Called by shared/db/runs/admission.ts.
--
-- Each statement sees what was committed before it, also after the one before has waited for a lock. So every part locks,
-- then reads, then judges, then writes. A name without a table is an argument or a variable.
--
-- Returns nothing in `admitted`, and has written nothing, when something that the caller has read is no longer so, or the
-- claim belongs to another run. Every refusal is raised as OW001 (see `refuse`), so it leaves nothing behind:
--   event      the event of a new signature belongs to another run
--   depth      the run would be deeper than `max_depth`
--   cap        a run above it has no room under its cap: committed_micros, limit_micros
--   full       all slots of its key are taken, and the limits do not queue it: limit, key, on_limit
--   ancestor   all slots of its key are taken, and a run above it holds one: limit, key
--   overlap    the schedule skips while a run of it is open
--   quota      see count_run_1
--   budget     see place_holds_1
--   changed    the workflow, its tools or the plan have changed during a wait
--   graph, input  the `refusal` that the caller has found
--   source     the run that it starts from was deleted, or see copy_steps_1
-- A trigger under a debounce joins the run that waits with its key, if there is one: `joined`. That run gets its claim and its input.
-- A second run of a step, an experiment's run or a job's event, both at once, breaks the constraint runs_one_per_step,
-- runs_one_per_experiment or inbound_event_replays_once; one of a schedule's time breaks runs_one_per_tick.
--
-- Never changed once it is released: processes of the version before call it during an update. A change is admit_run_3.
CREATE FUNCTION admit_run_2(
  run text, workspace text, workflow text, trigger text, input json, actor text, actor_name text,
  -- The version to run: the current one, unless it was chosen.
  version integer, chosen boolean,
  -- The version with which a chosen one was compared, and the revision of the tools when the graph was checked; null: any.
  compared_with integer, tools integer,
  -- The revision of the limits from which `place` follows, which has its key and priority; null: there are none, or they do not
  -- count for it. With `debounce`: key, seconds and max_seconds.
  limits_revision integer, place json,
  -- The events that cancel the run, as `runs.cancel_on`.
  cancel_on json,
  -- Why the run cannot execute: `graph` or `input`; null: it can.
  refusal text,
  -- Whether it counts against budgets, and the least that it costs; null: nothing.
  budgeted boolean, least_micros bigint,
  -- The claim: of a step, an experiment, a schedule, a job that replays events, a signature, an event or a key.
  parent text, parent_step text, parent_execution text, parent_attempt integer,
  experiment text, schedule text, due timestamptz, job text, replayed_event text,
  signature bytea, signed_at bigint, event text, event_window_seconds integer, key text, fingerprint text,
  -- What it has from the run that it starts from; `copies` as for copy_steps_1.
  source text, source_step text, laid json, graph json, rehearsal json, copies json, digests json,
  audit text, audit_action text, audit_details jsonb,
  -- The entry of the inbound event in the log.
  inbound text, inbound_event text, inbound_source text, inbound_headers json, inbound_size integer, inbound_body bytea,
  -- Settings: runs per month by plan, the greatest depth, how many children begin at a time, the lease of the start.
  run_limits json, max_depth integer, most_pending integer, lease_ms integer,
  OUT admitted runs, OUT workflow_name text, OUT outbox_id bigint, OUT joined boolean
) LANGUAGE plpgsql AS $$
DECLARE
  seen record;
  latest record;
  depth integer := 1;
  skips boolean;
  cap json;
  source_id text;
  limits_now integer;
  limits json;
  queued boolean := false;
  slots json;
  created timestamptz := now();
  debounce json := place -> 'debounce';
  waits_for_more text;
BEGIN
  joined := false;
  -- A duplicate of an event ends here: it locks nothing, so its commit does not wait for the disk.
  IF event IS NOT NULL AND EXISTS (
    SELECT FROM webhook_events e
    WHERE e.workflow_id = workflow AND e.event_id = event
      AND e.received_at >= now() - event_window_seconds * interval '1 second') THEN
    RETURN;
  END IF;

  -- Until the commit no budget is created and the workflow is not deleted. It must be as the caller has read it.
  PERFORM share_budgets(workspace);
  SELECT w.name, w.limits_revision INTO workflow_name, limits_now
  FROM workflows w WHERE w.id = workflow AND w.workspace_id = workspace FOR KEY SHARE;
  SELECT * INTO seen FROM workflow_now(workflow);
  IF workflow_name IS NULL OR (NOT chosen AND seen.version <> version) OR seen.version <> compared_with
     OR seen.tool_revision <> tools OR (rehearsal IS NULL AND limits_now IS DISTINCT FROM limits_revision) THEN
    RETURN;
  END IF;

  -- The run that waits for further triggers. The claim is for it.
  IF debounce IS NOT NULL THEN
    waits_for_more := debounced_run_1(workflow, debounce ->> 'key');
    joined := waits_for_more IS NOT NULL;
    run := coalesce(waits_for_more, run);
  END IF;

  -- The claim. Of two requests with the same claim, the second waits here for the first. If the first commits, the second
  -- gets nothing; if the first is refused, the second gets the claim.
  IF parent IS NOT NULL THEN
    -- The step of a run starts one run. The lock keeps the run above open until the commit: a cancel waits, and then
    -- cancels this run, too. A run that can cost something needs room under the caps of the runs above it.
    SELECT r.depth + 1 INTO depth FROM runs r
    WHERE r.id = parent AND r.workspace_id = workspace AND r.status IN ('pending', 'running', 'paused')
      AND NOT (parent_execution = ANY (r.superseded)) AND NOT r.resuming
    FOR SHARE;
    IF NOT FOUND OR EXISTS (
      SELECT FROM runs r WHERE r.parent_run_id = parent AND r.parent_step_key = parent_step) THEN
      RETURN;
    END IF;
    IF depth > max_depth THEN
      PERFORM refuse('depth', '{}');
    END IF;
    SELECT json_build_object('committed_micros', c.cost_micros, 'limit_micros', c.cap_micros) INTO cap
    FROM capped_spending(parent, '') c
    WHERE least_micros IS NOT NULL AND CASE c.overrun
      WHEN 'one_step' THEN c.cost_micros >= c.cap_micros ELSE c.cost_micros + least_micros > c.cap_micros END
    LIMIT 1;
    IF FOUND THEN
      PERFORM refuse('cap', cap);
    END IF;
  ELSIF experiment IS NOT NULL THEN
    -- An experiment rehearses each of its runs once. The lock keeps it running until the commit, as above.
    PERFORM FROM background_jobs j
    WHERE j.id = experiment AND j.workspace_id = workspace AND j.status = 'running' FOR SHARE;
    IF NOT FOUND OR EXISTS (SELECT FROM runs r WHERE r.experiment_id = experiment AND r.forked_from = source) THEN
      RETURN;
    END IF;
  ELSIF schedule IS NOT NULL THEN
    -- Runs of a schedule are admitted one at a time.
    UPDATE schedules s SET last_run_id = run, last_run_at = now()
    WHERE s.id = schedule AND s.workspace_id = workspace AND s.workflow_id = workflow
    RETURNING s.overlap = 'skip' INTO skips;
    IF NOT FOUND THEN
      RETURN;
    END IF;
    IF skips AND EXISTS (
      SELECT FROM runs r
      WHERE r.schedule_id = schedule AND r.id <> run AND r.status IN ('pending', 'running', 'paused')) THEN
      PERFORM refuse('overlap', '{}');
    END IF;
  ELSIF job IS NOT NULL THEN
    -- A job replays each of its events once. The lock keeps it running until the commit: no run starts after a cancel.
    PERFORM FROM background_jobs j
    WHERE j.id = job AND j.workspace_id = workspace AND j.status = 'running' FOR SHARE;
    IF NOT FOUND OR EXISTS (
      SELECT FROM inbound_event_replays p WHERE p.job_id = job AND p.event_id = replayed_event) THEN
      RETURN;
    END IF;
    IF event IS NOT NULL AND NOT claim_event_1(workflow, event, event_window_seconds, run) THEN
      RETURN;
    END IF;
  ELSIF signature IS NOT NULL THEN
    -- Always the signature before the event, to avoid deadlocks.
    INSERT INTO webhook_signatures (workflow_id, signature, run_id, signed_at)
    VALUES (workflow, signature, run, to_timestamp(signed_at)) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RETURN;
    END IF;
    IF event IS NOT NULL AND NOT claim_event_1(workflow, event, event_window_seconds, run) THEN
      PERFORM refuse('event', '{}');
    END IF;
  ELSIF event IS NOT NULL THEN
    IF NOT claim_event_1(workflow, event, event_window_seconds, run) THEN
      RETURN;
    END IF;
  ELSIF key IS NOT NULL THEN
    INSERT INTO idempotency_keys (workspace_id, workflow_id, key, fingerprint, run_id)
    VALUES (workspace, workflow, key, decode(fingerprint, 'hex'), run) ON CONFLICT DO NOTHING;
    IF NOT FOUND THEN
      RETURN;
    END IF;
  END IF;

  -- The monthly quota, which a rehearsal does not use, and the budgets.
  IF rehearsal IS NULL AND NOT joined THEN
    PERFORM count_run_1(workspace, seen.plan, (run_limits ->> seen.plan)::bigint);
  END IF;
  IF budgeted AND NOT joined THEN
    PERFORM place_holds_1(run, 0, 0, workspace, workflow, parent, false);
  END IF;

  -- The slots of its key.
  IF place IS NOT NULL AND debounce IS NULL THEN
    SELECT l.settings INTO limits FROM workflow_limits l WHERE l.workflow_id = workflow FOR UPDATE;
    slots := limits -> 'concurrency';
    IF place ->> 'key' IS NOT NULL AND NOT slot_free_1(workflow, place ->> 'key', (slots ->> 'limit')::integer) THEN
      IF parent IS NOT NULL AND EXISTS (
        SELECT FROM run_places p
        WHERE p.workflow_id = workflow AND p.key = place ->> 'key' AND p.state = 'holding'
          AND p.run_id IN (SELECT a.id FROM runs_above(parent) AS a)) THEN
        PERFORM refuse('ancestor', json_build_object('limit', slots -> 'limit', 'key', place -> 'key'));
      END IF;
      IF slots ->> 'on_limit' IN ('reject', 'skip') THEN
        PERFORM refuse('full', json_build_object(
          'limit', slots -> 'limit', 'key', place -> 'key', 'on_limit', slots -> 'on_limit'));
      END IF;
    END IF;
  END IF;

  -- The events that cancel it: those that are stored from here on. The run is created after all others.
  IF cancel_on IS NOT NULL THEN
    PERFORM share_event_names(workspace, cancel_on);
    created := clock_timestamp();
  END IF;

  -- Nothing waits from here on, except for deletions. What was read before the waits must still be so.
  SELECT * INTO latest FROM workflow_now(workflow);
  IF latest IS DISTINCT FROM seen THEN
    PERFORM refuse('changed', '{}');
  END IF;
  IF refusal IS NOT NULL THEN
    PERFORM refuse(refusal, '{}');
  END IF;

  -- The run.
  IF joined THEN
    admitted := join_run_1(run, version, input, place, cancel_on, actor, schedule, due, inbound);
  ELSE
    IF source IS NOT NULL THEN
      SELECT r.id INTO source_id FROM runs r WHERE r.id = source FOR KEY SHARE;
      IF source_id IS NULL AND copies IS NOT NULL THEN
        PERFORM refuse('source', '{}');
      END IF;
    END IF;
    INSERT INTO runs (id, workspace_id, workflow_id, workflow_version, trigger, input, cost_cap_micros, overrun, created_by,
                      created_by_name, schedule_id, due_at, parent_run_id, parent_step_key, parent_attempt, depth,
                      starter_id, starters, forked_from, forked_from_step, laid, graph, rehearsal, experiment_id,
                      inbound_event_id, limits, cancel_on, created_at)
    VALUES (run, workspace, workflow, version, trigger, input, seen.run_cap_micros, seen.overrun, actor,
            actor_name, schedule, due, parent, parent_step, coalesce(parent_attempt, 0), depth,
            coalesce(actor, (SELECT s.created_by FROM schedules s WHERE s.id = schedule),
                     (SELECT r.starter_id FROM runs r WHERE r.id = parent)),
            starters_of_1(actor, schedule, parent, source), source_id, source_step, laid, graph, rehearsal, experiment,
            coalesce(inbound, replayed_event), place, cancel_on, created)
    RETURNING * INTO admitted;
  END IF;
  admitted.input := NULL; -- It is large, and the caller has it.

  -- What it takes over from the run that it starts from.
  IF copies IS NOT NULL THEN
    PERFORM copy_steps_1(run, source, copies);
  END IF;
  IF digests IS NOT NULL THEN
    INSERT INTO recorded_steps (run_id, step_key, digest) SELECT run, d.key, d.value FROM json_each_text(digests) d;
  END IF;

  -- Its count in the usage, and its entry in the audit log; an experiment has an entry of its own.
  IF rehearsal IS NULL AND NOT joined THEN
    INSERT INTO usage_deltas (workspace_id, day, runs) VALUES (workspace, admitted.created_at::date, 1);
  END IF;
  IF experiment IS NULL THEN
    INSERT INTO audit_log (id, workspace_id, action, actor_id, actor_name, target_type, target_id, details)
    VALUES (audit, workspace, audit_action, actor, actor_name, 'workflow', workflow,
            audit_details || CASE WHEN joined THEN jsonb_build_object('run_id', run, 'joined', true) ELSE '{}' END);
  END IF;

  -- The outbox entry to start it, leased to the caller. A run without a slot or a token waits in its queue instead. A child waits while
  -- enough others before it have not begun. Under a debounce, it waits for further triggers first.
  IF debounce IS NOT NULL THEN
    queued := true;
    IF NOT joined THEN
      INSERT INTO run_places (run_id, workspace_id, workflow_id, priority, state, kind, debounce_key, due_at, latest_at)
      SELECT run, workspace, workflow, (place ->> 'priority')::integer, 'debounced', 'start', debounce ->> 'key',
             first.at + (debounce ->> 'seconds')::float8 * interval '1 s',
             first.at + (debounce ->> 'max_seconds')::float8 * interval '1 s'
      FROM clock_timestamp() AS first (at);
    END IF;
  ELSIF place IS NOT NULL THEN
    queued := take_place_1(run, limits, 'start', '{}');
  END IF;
  IF NOT queued AND parent IS NOT NULL AND EXISTS (
    SELECT FROM runs r
    WHERE r.workspace_id = workspace AND r.status = 'pending' AND r.parent_run_id IS NOT NULL
      AND (r.depth > admitted.depth OR r.depth = admitted.depth AND r.id < run)
      AND NOT EXISTS (SELECT FROM run_places p WHERE p.run_id = r.id AND p.state = 'waiting')
    OFFSET most_pending - 1 LIMIT 1) THEN
    INSERT INTO outbox (run_id, kind, due_at) VALUES (run, 'start', 'infinity');
  ELSIF NOT queued THEN
    INSERT INTO outbox (run_id, kind, leased_until) VALUES (run, 'start', now() + lease_ms * interval '1 ms')
    RETURNING id INTO outbox_id;
  END IF;

  -- The log of inbound events.
  IF inbound IS NOT NULL THEN
    INSERT INTO inbound_events (id, workflow_id, outcome, status, run_id, event_id, source, headers, size, body)
    VALUES (inbound, workflow, 'run', 201, run, inbound_event, inbound_source, inbound_headers, inbound_size,
            inbound_body);
  ELSIF replayed_event IS NOT NULL THEN
    -- The event may be deleted concurrently.
    INSERT INTO inbound_event_replays (run_id, event_id, job_id)
    SELECT run, e.id, job FROM inbound_events e WHERE e.id = replayed_event FOR KEY SHARE;
  END IF;
END
$$;
