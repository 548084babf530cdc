-- A run that several triggers share waits, as `debounced`, until none has come for a while: then, at `due_at`, it starts as others
-- do. No trigger moves that time beyond `latest_at`.
ALTER TABLE run_places ADD COLUMN debounce_key text, ADD COLUMN latest_at timestamptz,
  DROP CONSTRAINT run_places_state_check,
  ADD CONSTRAINT run_places_state_check CHECK (state IN ('waiting', 'holding', 'leaving', 'pausing', 'away', 'debounced')) NOT VALID;
CREATE UNIQUE INDEX run_places_debounced ON run_places (workflow_id, debounce_key) WHERE state = 'debounced';
CREATE INDEX run_places_debounced_due ON run_places (due_at) WHERE state = 'debounced';

-- The times of schedules that joined a run which something else had triggered.
CREATE TABLE joined_ticks (
  schedule_id text NOT NULL REFERENCES schedules (id) ON DELETE CASCADE,
  due_at      timestamptz NOT NULL,
  run_id      text NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  PRIMARY KEY (schedule_id, due_at)
);
CREATE INDEX joined_ticks_of_run ON joined_ticks (run_id);
