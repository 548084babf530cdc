-- Alerts are promised in the transaction that makes them due, like everything Temporal is to do.
ALTER TABLE outbox DROP CONSTRAINT outbox_kind_check;
ALTER TABLE outbox ADD CONSTRAINT outbox_kind_check
  CHECK (kind IN ('start', 'decision', 'cancel', 'resume', 'alert')) NOT VALID;
ALTER TABLE outbox VALIDATE CONSTRAINT outbox_kind_check;

-- What a sweep has removed and not yet told in the audit log. Counted in the transaction that removes, told and
-- emptied in one at the end: a sweeper that dies in between leaves the counts to the next one.
CREATE TABLE retention_removals (
  workspace_id text PRIMARY KEY REFERENCES workspaces ON DELETE CASCADE,
  runs         integer NOT NULL DEFAULT 0 CHECK (runs >= 0),
  audit        integer NOT NULL DEFAULT 0 CHECK (audit >= 0)
);

-- When a payload was last given to Temporal, within a day: storing it again touches it. Existing rows count as new.
ALTER TABLE payloads ADD COLUMN stored_at timestamptz NOT NULL DEFAULT now();
CREATE INDEX payloads_by_age ON payloads (stored_at);

-- The few ended runs whose history holds payloads much older than their end: they waited at a gate, or were resumed.
CREATE INDEX runs_long_lived ON runs (created_at) WHERE finished_at - created_at > interval '1 day';
