-- Starts the runs that wait with this key, or with this key of the rate, as far as the limits let them: by priority, then in the
-- order in which they were triggered. What has left its slot is removed, or away if its run is paused; if a step of the run has a
-- claim, it is looked at again after `look_ms`.
--
-- Returns the messages to Temporal, leased to the caller.
--
-- Never changed once it is released. A change is advance_queue_2.
CREATE FUNCTION advance_queue_1(workflow text, slot_key text, token_key text, lease_ms integer, look_ms integer)
  RETURNS SETOF outbox LANGUAGE plpgsql AS $$
#variable_conflict use_column
DECLARE
  limits json;
  next run_places;
  blocked record;
  message outbox;
  full_keys text[] := '{}';
  late_keys text[] := '{}';
  again timestamptz;
BEGIN
  SELECT l.settings INTO limits FROM workflow_limits l WHERE l.workflow_id = workflow FOR UPDATE;
  IF slot_key IS NOT NULL THEN
    DELETE FROM run_places p
    WHERE p.workflow_id = workflow AND p.key = slot_key AND p.state = 'leaving' AND NOT EXISTS (
      SELECT FROM steps s WHERE s.run_id = p.run_id AND s.claim_until > clock_timestamp());
    UPDATE run_places p SET state = 'away'
    WHERE p.workflow_id = workflow AND p.key = slot_key AND p.state = 'pausing' AND NOT EXISTS (
      SELECT FROM steps s WHERE s.run_id = p.run_id AND s.claim_until > clock_timestamp());
    UPDATE run_places p SET due_at = clock_timestamp() + look_ms * interval '1 ms'
    WHERE p.workflow_id = workflow AND p.key = slot_key AND p.state IN ('leaving', 'pausing');
  END IF;
  LOOP
    IF slot_key IS NOT NULL THEN
      SELECT * INTO next FROM run_places p
      WHERE p.workflow_id = workflow AND p.key = slot_key AND p.state = 'waiting'
        AND NOT (p.rate_key IS NOT NULL AND p.rate_key = ANY (late_keys))
      ORDER BY p.priority DESC, p.seq LIMIT 1;
    ELSE
      SELECT * INTO next FROM run_places p
      WHERE p.workflow_id = workflow AND p.rate_key = token_key AND p.state = 'waiting'
        AND NOT (p.key IS NOT NULL AND p.key = ANY (full_keys))
      ORDER BY p.priority DESC, p.seq LIMIT 1;
    END IF;
    EXIT WHEN NOT FOUND;
    SELECT * INTO blocked FROM place_blocked_1(workflow, limits, next.key, next.rate_key);
    IF blocked.blocked_by = 'concurrency' THEN
      EXIT WHEN slot_key IS NOT NULL;
      full_keys := full_keys || next.key;
      CONTINUE;
    ELSIF blocked.blocked_by = 'rate' THEN
      again := least(again, blocked.due_at);
      UPDATE rate_queues q SET due_at = least(q.due_at, blocked.due_at) WHERE q.workflow_id = workflow AND q.key = next.rate_key;
      EXIT WHEN slot_key IS NULL OR next.rate_key = ANY (late_keys);
      late_keys := late_keys || next.rate_key;
      CONTINUE;
    END IF;
    -- Its end may be about to commit. Then it waits no more.
    PERFORM FROM runs r WHERE r.id = next.run_id FOR NO KEY UPDATE;
    UPDATE run_places p SET state = 'holding', taken_at = clock_timestamp()
    WHERE p.run_id = next.run_id AND p.state = 'waiting';
    CONTINUE WHEN NOT FOUND;
    IF next.key IS NULL THEN
      DELETE FROM run_places p WHERE p.run_id = next.run_id;
    END IF;
    IF next.rate_key IS NOT NULL THEN
      INSERT INTO rate_tokens (workflow_id, key) VALUES (workflow, next.rate_key);
    END IF;
    UPDATE runs r SET
      waiting_ms = r.waiting_ms + (extract(epoch FROM clock_timestamp() - next.queued_at) * 1000)::bigint,
      phase_since = CASE WHEN r.phase_since IS NOT NULL THEN clock_timestamp() END, at_rest = false, updated_at = now()
    WHERE r.id = next.run_id;
    INSERT INTO outbox (run_id, kind, payload, leased_until)
    VALUES (next.run_id, next.kind, next.payload, now() + lease_ms * interval '1 ms') RETURNING * INTO message;
    RETURN NEXT message;
  END LOOP;
  -- The next token. Without one to wait for, a slot of those that wait wakes them.
  IF token_key IS NOT NULL THEN
    DELETE FROM rate_tokens t
    WHERE t.workflow_id = workflow AND t.key = token_key
      AND t.taken_at < clock_timestamp() - (limits -> 'rate' ->> 'per_seconds')::integer * interval '1 second';
    UPDATE rate_queues q SET due_at = coalesce(again, 'infinity') WHERE q.workflow_id = workflow AND q.key = token_key;
    DELETE FROM rate_queues q
    WHERE q.workflow_id = workflow AND q.key = token_key AND NOT EXISTS (
      SELECT FROM run_places p WHERE p.workflow_id = workflow AND p.rate_key = token_key AND p.state = 'waiting');
  END IF;
END
$$;
