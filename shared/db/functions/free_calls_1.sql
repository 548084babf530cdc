-- Frees the calls that a claim of a step has taken, and wakes what waits for them. Called at the end of a transaction: it locks the
-- scopes, after everything else. Returns rows of the outbox: see wake_calls_1.
--
-- Never changed once it is released. A change is free_calls_2.
CREATE FUNCTION free_calls_1(run text, step text, claim text, lease_ms integer) RETURNS json LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  scopes text[] := ARRAY(
    SELECT c.scope FROM limited_calls c WHERE c.run_id = run AND c.step_key = step AND c.claim = claim AND NOT c.ended
    ORDER BY c.scope COLLATE "C");
  scope text;
BEGIN
  FOREACH scope IN ARRAY scopes LOOP
    PERFORM pg_advisory_xact_lock(hashtextextended(scope, 0));
  END LOOP;
  DELETE FROM limited_calls c WHERE c.run_id = run AND c.step_key = step AND c.claim = claim AND NOT c.rated;
  UPDATE limited_calls c SET ended = true WHERE c.run_id = run AND c.step_key = step AND c.claim = claim;
  RETURN wake_calls_1(scopes, lease_ms);
END
$$;
