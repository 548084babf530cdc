-- When a run with this key may start under a limit of `most` starts per `seconds`: -infinity if it may now. Any window of that
-- length counts. The caller has locked the row of the workflow's limits.
--
-- Never changed once it is released. A change is rate_due_2.
CREATE FUNCTION rate_due_1(workflow text, token_key text, most integer, seconds integer) RETURNS timestamptz LANGUAGE plpgsql AS $$
DECLARE
  oldest timestamptz;
BEGIN
  SELECT t.taken_at INTO oldest FROM rate_tokens t
  WHERE t.workflow_id = workflow AND t.key = token_key AND t.taken_at > clock_timestamp() - seconds * interval '1 second'
  ORDER BY t.taken_at DESC OFFSET most - 1 LIMIT 1;
  RETURN CASE WHEN FOUND THEN oldest + seconds * interval '1 second' ELSE '-infinity' END;
END
$$;
