-- Wakes the first steps that wait in these scopes, as many as calls are free. One that was woken and has not come for ten seconds
-- does not hold up the others. Locks only rows that nobody else has locked, so it never waits.
--
-- `lease_ms`: how long the rows of the outbox are leased to the caller; null: the reconciler sends them. Returns these rows.
--
-- Never changed once it is released. A change is wake_calls_2.
CREATE FUNCTION wake_calls_1(scopes text[], lease_ms integer) RETURNS json LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  scope text;
  head record;
  room record;
  free integer;
  queued json;
  woken json := '[]';
BEGIN
  FOREACH scope IN ARRAY scopes LOOP
    SELECT w.concurrency, w.per_minute, w.look_at, w.woken_at INTO head FROM call_waits w
    WHERE w.scope = scope AND (w.woken_at IS NULL OR w.woken_at > clock_timestamp() - interval '10 s')
    ORDER BY w.seq LIMIT 1;
    CONTINUE WHEN NOT FOUND;
    room := call_room_1(scope, head.concurrency, head.per_minute, '', '');
    free := least(room.slots, room.tokens);
    -- Only the calls per minute are used up. If one becomes free before the first would look, it sets its timer again.
    IF free <= 0 AND coalesce(room.slots, 1) > 0 AND head.woken_at IS NULL AND head.look_at > (
         SELECT min(c.taken_at) FROM limited_calls c WHERE c.scope = scope AND c.taken_at > clock_timestamp() - interval '1 minute'
       ) + interval '60.2 s' THEN
      free := 1;
    END IF;
    CONTINUE WHEN free <= 0;
    WITH first AS (
      SELECT w.run_id, w.step_key, w.woken_at FROM call_waits w
      WHERE w.scope = scope AND (w.woken_at IS NULL OR w.woken_at > clock_timestamp() - interval '10 s')
      ORDER BY w.seq LIMIT free FOR UPDATE SKIP LOCKED
    ), called AS (
      UPDATE call_waits w SET woken_at = clock_timestamp() FROM first f
      WHERE w.run_id = f.run_id AND w.step_key = f.step_key AND f.woken_at IS NULL
      RETURNING w.run_id, w.step_key
    ), sent AS (
      INSERT INTO outbox (run_id, kind, payload, leased_until)
      SELECT c.run_id, 'waited', json_build_object('step_key', c.step_key), now() + lease_ms * interval '1 ms' FROM called c
      RETURNING id, run_id, kind, payload, attempts
    )
    SELECT json_agg(s) INTO queued FROM sent s;
    IF queued IS NOT NULL THEN
      woken := (woken::jsonb || queued::jsonb)::json;
    END IF;
  END LOOP;
  RETURN woken;
END
$$;
