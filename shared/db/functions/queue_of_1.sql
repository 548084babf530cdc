-- What a run waits for, as its record has it; null: it does not wait. `position` and `length` count up to 1,000; a run that waits
-- for further triggers is alone.
--
-- Never changed once it is released. A change is queue_of_2.
CREATE FUNCTION queue_of_1(run text) RETURNS json LANGUAGE plpgsql VOLATILE AS $$
DECLARE
  place run_places;
  limits json;
  for_rate boolean;
  place_in bigint;
  waiting bigint;
BEGIN
  SELECT * INTO place FROM run_places p WHERE p.run_id = run AND p.state IN ('waiting', 'debounced');
  IF NOT FOUND THEN
    RETURN NULL;
  END IF;
  IF place.state = 'debounced' THEN
    RETURN json_build_object('for', 'debounce', 'key', place.debounce_key, 'position', 1, 'length', 1, 'until', place.due_at);
  END IF;
  SELECT l.settings INTO limits FROM workflow_limits l WHERE l.workflow_id = place.workflow_id;
  for_rate := place.key IS NULL
              OR coalesce((place_blocked_1(place.workflow_id, limits, place.key, place.rate_key)).blocked_by, '') = 'rate';
  IF for_rate THEN
    SELECT 1 + count(*) INTO place_in FROM (
      SELECT FROM run_places p
      WHERE p.workflow_id = place.workflow_id AND p.rate_key = place.rate_key AND p.state = 'waiting'
        AND (p.priority > place.priority OR p.priority = place.priority AND p.seq < place.seq) LIMIT 999) AS b;
    SELECT count(*) INTO waiting FROM (
      SELECT FROM run_places p
      WHERE p.workflow_id = place.workflow_id AND p.rate_key = place.rate_key AND p.state = 'waiting' LIMIT 1000) AS a;
  ELSE
    SELECT 1 + count(*) INTO place_in FROM (
      SELECT FROM run_places p
      WHERE p.workflow_id = place.workflow_id AND p.key = place.key AND p.state = 'waiting'
        AND (p.priority > place.priority OR p.priority = place.priority AND p.seq < place.seq) LIMIT 999) AS b;
    SELECT count(*) INTO waiting FROM (
      SELECT FROM run_places p
      WHERE p.workflow_id = place.workflow_id AND p.key = place.key AND p.state = 'waiting' LIMIT 1000) AS a;
  END IF;
  RETURN json_build_object(
    'for', CASE WHEN for_rate THEN 'rate' ELSE 'concurrency' END,
    'key', coalesce(CASE WHEN for_rate THEN place.rate_key ELSE place.key END, ''),
    'position', place_in, 'length', waiting, 'until', NULL);
END
$$;
