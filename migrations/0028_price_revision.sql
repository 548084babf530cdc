-- Steps use the prices of their process until the revision of the workspace changes. Prices now raise it, too.
UPDATE workspaces SET policy_revision = policy_revision + 1
WHERE id IN (SELECT workspace_id FROM workspace_prices);
