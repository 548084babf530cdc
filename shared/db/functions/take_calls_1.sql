-- Takes a call of each of these limits for a claim of a step, or none of them. What waits longer goes first. Called at the end of a
-- transaction: it locks the scopes, after everything else.
--
-- `calls`: scope, target, key, concurrency and per_minute of each limit; without any, the step does not wait any more. `waits`:
-- whether the step waits if it gets none; then it is in the queue of the first limit without a free call, and keeps its place when
-- it tries again.
--
-- Returns
--   taken       whether it has the calls
--   since       since when it has waited; null: it has not
--   left_scope  the queue that it has left; the caller wakes it once the claim is written
--   wait_ms     when to try again, if nothing wakes it
--   target      what it waits for
--   woken       rows of the outbox: see wake_calls_1
--
-- Never changed once it is released. A change is take_calls_2.
CREATE FUNCTION take_calls_1(
  run text, workspace text, step text, claim text, node text, label text, calls json, waits boolean, lease_ms integer,
  OUT taken boolean, OUT since timestamptz, OUT left_scope text, OUT wait_ms integer, OUT target text, OUT woken json
) LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  call record;
  kept call_waits;
  room record;
  ahead integer;
  needed integer;
  due timestamptz;
BEGIN
  taken := true;
  woken := '[]';
  FOR call IN SELECT c.scope FROM json_to_recordset(calls) AS c (scope text) ORDER BY c.scope COLLATE "C" LOOP
    PERFORM pg_advisory_xact_lock(hashtextextended(call.scope, 0));
  END LOOP;
  SELECT w.* INTO kept FROM call_waits w WHERE w.run_id = run AND w.step_key = step FOR UPDATE;
  since := kept.since;
  left_scope := kept.scope;

  FOR call IN
    SELECT * FROM json_to_recordset(calls) AS c (scope text, target text, key text, concurrency integer, per_minute integer)
    ORDER BY c.scope COLLATE "C"
  LOOP
    CONTINUE WHEN EXISTS (
      SELECT FROM limited_calls c WHERE c.run_id = run AND c.step_key = step AND c.claim = claim AND c.scope = call.scope);
    room := call_room_1(call.scope, call.concurrency, call.per_minute, run, step);
    ahead := (
      SELECT count(*) FROM call_waits w
      WHERE w.scope = call.scope AND (w.run_id, w.step_key) <> (run, step) AND (kept.seq IS NULL OR w.seq < kept.seq)
        AND (w.woken_at IS NULL OR w.woken_at > clock_timestamp() - interval '10 s'));
    taken := least(room.slots, room.tokens) > ahead;
    EXIT WHEN NOT taken;
  END LOOP;

  IF taken THEN
    -- An attempt whose worker died no longer has the claim.
    DELETE FROM limited_calls c
    WHERE c.run_id = run AND c.step_key = step AND c.claim <> claim AND NOT c.rated;
    INSERT INTO limited_calls AS n (scope, run_id, step_key, claim, workspace_id, rated)
    SELECT c.scope, run, step, claim, workspace, c.per_minute IS NOT NULL
    FROM json_to_recordset(calls) AS c (scope text, per_minute integer)
    ON CONFLICT DO NOTHING;
    DELETE FROM limited_calls c USING json_to_recordset(calls) AS g (scope text)
    WHERE c.scope = g.scope AND c.taken_at < clock_timestamp() - interval '61 s' AND (c.ended OR NOT EXISTS (
      SELECT FROM steps s WHERE s.run_id = c.run_id AND s.step_key = c.step_key AND s.claim = c.claim
                            AND s.claim_until > clock_timestamp()));
    DELETE FROM call_waits w WHERE w.run_id = run AND w.step_key = step;
    RETURN;
  END IF;

  target := call.target;
  IF NOT waits THEN
    RETURN;
  END IF;
  -- When enough calls of the last minute are older than that; otherwise when enough claims of workers that died have expired. Those
  -- further back in the queue look less often.
  needed := ahead + 1 - room.tokens;
  IF needed > 0 THEN
    due := coalesce((
      SELECT c.taken_at FROM limited_calls c
      WHERE c.scope = call.scope AND c.taken_at > clock_timestamp() - interval '1 minute'
      ORDER BY c.taken_at OFFSET (needed - 1) % call.per_minute LIMIT 1), clock_timestamp())
      + ((needed - 1) / call.per_minute + 1) * interval '1 minute' + interval '5 ms';
  ELSE
    needed := ahead + 1 - room.slots;
    due := coalesce((
      SELECT s.claim_until FROM limited_calls c JOIN steps s ON s.run_id = c.run_id AND s.step_key = c.step_key
      WHERE c.scope = call.scope AND NOT c.ended AND s.claim = c.claim AND s.claim_until > clock_timestamp()
      ORDER BY s.claim_until OFFSET needed - 1 LIMIT 1) + interval '50 ms',
      clock_timestamp() + (1 + (needed - 1) / call.concurrency) * interval '11 s');
  END IF;
  due := least(greatest(due, clock_timestamp() + interval '20 ms'), clock_timestamp() + interval '1 hour');
  wait_ms := ceil(extract(epoch FROM due - clock_timestamp()) * 1000);
  INSERT INTO call_waits AS w (run_id, step_key, workspace_id, node_id, label, scope, target, key, concurrency, per_minute, look_at)
  VALUES (run, step, workspace, node, label, call.scope, call.target, call.key, call.concurrency, call.per_minute, due)
  ON CONFLICT (run_id, step_key) DO UPDATE SET
    scope = excluded.scope, target = excluded.target, key = excluded.key, concurrency = excluded.concurrency,
    per_minute = excluded.per_minute, look_at = excluded.look_at, woken_at = NULL;
  since := coalesce(since, clock_timestamp());
  -- Those before it, if calls are free; and those behind it in the queue that it leaves.
  woken := wake_calls_1(
    ARRAY(SELECT DISTINCT s FROM unnest(ARRAY[call.scope, kept.scope]) AS s WHERE s IS NOT NULL
            AND (s <> call.scope OR coalesce(least(room.slots, room.tokens) > 0, false))), lease_ms);
END
$$;
