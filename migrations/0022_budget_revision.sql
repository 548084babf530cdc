-- Raised with each budget that is created: an admission that began before it sees that its budgets are out of date.
ALTER TABLE workspaces ADD COLUMN budget_revision integer NOT NULL DEFAULT 0;

-- Shares the workspace's budgets until the transaction ends, and returns their revision. Volatile: what it reads is as
-- new as the lock, also where the statement that calls it has waited here with an older snapshot.
CREATE FUNCTION share_budgets(workspace text) RETURNS integer LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  PERFORM pg_advisory_xact_lock_shared(4201, hashtext(workspace));
  RETURN (SELECT budget_revision FROM workspaces WHERE id = workspace);
END
$$;
