-- Children that have not begun, in order: how many of them a workspace has decides when the next is sent to Temporal.
CREATE INDEX runs_pending_children ON runs (workspace_id, depth DESC, id) WHERE status = 'pending' AND parent_run_id IS NOT NULL;
