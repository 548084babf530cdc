-- What keeps a run with these keys from starting under these limits: `concurrency` or `rate`; null: nothing. `due_at`: when the rate
-- lets it start. A key without its limit does not count. The caller has locked the row of the workflow's limits.
--
-- Never changed once it is released. A change is place_blocked_2.
CREATE FUNCTION place_blocked_1(
  workflow text, limits json, slot_key text, token_key text, OUT blocked_by text, OUT due_at timestamptz
) LANGUAGE plpgsql AS $$
DECLARE
  most integer := limits -> 'concurrency' ->> 'limit';
  starts integer := limits -> 'rate' ->> 'limit';
BEGIN
  IF most IS NOT NULL AND slot_key IS NOT NULL AND NOT slot_free_1(workflow, slot_key, most) THEN
    blocked_by := 'concurrency';
  ELSIF starts IS NOT NULL AND token_key IS NOT NULL THEN
    due_at := rate_due_1(workflow, token_key, starts, (limits -> 'rate' ->> 'per_seconds')::integer);
    IF due_at > '-infinity' THEN
      blocked_by := 'rate';
    END IF;
  END IF;
END
$$;
