-- What a gate asks of its approvers, as its version had it when it opened. Null: any approval by anyone decides it.
ALTER TABLE gates ADD COLUMN settings json;

-- Who has decided so far, oldest first: [{member_id, by, approved, at, reason, input}]. The row's lock counts them.
ALTER TABLE gates ADD COLUMN decisions json;

-- The deadline and the next reminder, by the clock of the database. The execution of the run has a timer for them.
ALTER TABLE gates ADD COLUMN expires_at timestamptz;
ALTER TABLE gates ADD COLUMN remind_at timestamptz;
ALTER TABLE gates ADD COLUMN reminders integer NOT NULL DEFAULT 0;

-- Set when the deadline decided the gate, to what the gate does then.
ALTER TABLE gates ADD COLUMN timed_out text;
ALTER TABLE gates ADD CONSTRAINT gates_timed_out_check CHECK (timed_out IN ('reject', 'approve', 'fail')) NOT VALID;
