-- Finds and locks the run of this workflow and key that waits for further triggers; null: there is none, or it has started or
-- ended. Until the commit, no other trigger finds or makes one with this key.
--
-- Never changed once it is released. A change is debounced_run_2.
CREATE FUNCTION debounced_run_1(workflow text, debounce_key text) RETURNS text LANGUAGE plpgsql AS $$
#variable_conflict use_variable
DECLARE
  found_run text;
BEGIN
  PERFORM pg_advisory_xact_lock(hashtextextended('debounce/' || workflow || '/' || debounce_key, 0));
  SELECT p.run_id INTO found_run FROM run_places p
  WHERE p.workflow_id = workflow AND p.debounce_key = debounced_run_1.debounce_key AND p.state = 'debounced';
  -- Its start, or its end, may be about to commit.
  PERFORM FROM runs r WHERE r.id = found_run FOR NO KEY UPDATE;
  RETURN (SELECT p.run_id FROM run_places p WHERE p.run_id = found_run AND p.state = 'debounced');
END
$$;
