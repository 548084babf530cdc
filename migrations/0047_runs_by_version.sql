-- Runs of an old version are far from the start of the list, and the planner expects the runs of all versions everywhere in
-- it. Drafts have no version.
CREATE INDEX runs_by_version ON runs (workflow_id, workflow_version, created_at DESC, id DESC) WHERE graph IS NULL;
