-- What the person who decided gave as the reason.
ALTER TABLE gates ADD COLUMN reason text;

-- When the attempt at a step began that is its last so far, unless that is its very first. Rows from before are not
-- filled, which would write the whole table anew: those with one attempt mean the same without it, and when the others
-- began their last nobody knows.
ALTER TABLE steps ADD COLUMN attempt_started_at timestamptz;

-- The audit log is searched and counted by any of these alone. Ascending, although the newest are wanted first: entries
-- come at the end of each key's, which keeps the pages of an index full. The time is in them so that a search that also
-- asks for one need not read the entries.
CREATE INDEX audit_log_by_action ON audit_log (workspace_id, action, seq) INCLUDE (created_at);
CREATE INDEX audit_log_by_target_type ON audit_log (workspace_id, target_type, seq) INCLUDE (created_at);
CREATE INDEX audit_log_by_target ON audit_log (workspace_id, target_id, seq) INCLUDE (created_at);
CREATE INDEX audit_log_by_time ON audit_log (workspace_id, created_at, seq);
-- For counting alone: of few different values, it is a twentieth of the others in size and read twice as fast.
CREATE INDEX audit_log_counted ON audit_log (workspace_id, target_type, action);
