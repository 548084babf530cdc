-- What the person who decided gave as the reason.
ALTER TABLE gates ADD COLUMN reason text;

-- When the attempt at a step began that is its last so far, unless that is its very first. Rows from before are not
-- filled, which would write the whole table anew: those with one attempt mean the same without it, and when the others
-- began their last nobody knows.
ALTER TABLE steps ADD COLUMN attempt_started_at timestamptz;

-- The audit log is searched by any of these alone, and counted. The time is in each so that a search between two times
-- need not read the entries; on its own it has to be the order.
CREATE INDEX audit_log_by_action ON audit_log (workspace_id, action, seq DESC) INCLUDE (created_at);
CREATE INDEX audit_log_by_target_type ON audit_log (workspace_id, target_type, seq DESC) INCLUDE (created_at);
CREATE INDEX audit_log_by_target ON audit_log (workspace_id, target_id, seq DESC) INCLUDE (created_at);
CREATE INDEX audit_log_by_time ON audit_log (workspace_id, created_at DESC, seq DESC);
