-- Whether a slot of this key is free: fewer than `most` runs hold one. A run that has ended, or has left its slot while it
-- is paused, holds it while one of its steps has a claim. The caller has locked the row of the workflow's limits.
--
-- Never changed once it is released. A change is slot_free_2.
CREATE FUNCTION slot_free_1(workflow text, slot_key text, most integer) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RETURN most > (
    SELECT count(*) FROM run_places p
    WHERE p.workflow_id = workflow AND p.key = slot_key AND (p.state = 'holding' OR p.state IN ('leaving', 'pausing') AND EXISTS (
      SELECT FROM steps s WHERE s.run_id = p.run_id AND s.claim_until > clock_timestamp())));
END
$$;
