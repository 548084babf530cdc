-- A gate that is open when its run ends is closed with it, and opened again by the run's resume.
ALTER TABLE gates DROP CONSTRAINT gates_status_check;
ALTER TABLE gates ADD CONSTRAINT gates_status_check
  CHECK (status IN ('open', 'approved', 'rejected', 'cancelled')) NOT VALID;
ALTER TABLE gates VALIDATE CONSTRAINT gates_status_check;

-- What earlier versions left open in runs that had ended.
UPDATE gates g SET status = 'cancelled' FROM runs r
WHERE g.status = 'open' AND r.id = g.run_id AND r.status IN ('success', 'failed');
UPDATE steps s SET status = 'cancelled', finished_at = r.finished_at FROM runs r
WHERE s.status IN ('running', 'paused') AND r.id = s.run_id AND r.status IN ('success', 'failed');

-- The revision of a workspace's policies at the moment of the call. Volatile, so that each call has a snapshot of its
-- own: a statement that has waited for a row learns what was committed meanwhile.
CREATE FUNCTION policy_revision_now(workspace text) RETURNS integer
LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (SELECT policy_revision FROM workspaces WHERE id = workspace);
END $$;
