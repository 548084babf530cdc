-- Rehearsals: runs whose steps take their results from the record of another run, their `forked_from`.
-- What may be executed for real, and the decisions of the request; null for an ordinary run.
ALTER TABLE runs ADD COLUMN rehearsal json;
CREATE INDEX runs_rehearsed ON runs (workspace_id, created_at DESC, id DESC) WHERE rehearsal IS NOT NULL;

-- What the steps of the other run were executed with. A step of the rehearsal with the same digest has the same result.
CREATE TABLE recorded_steps (
  run_id text NOT NULL REFERENCES runs(id) ON DELETE CASCADE,
  step_key text NOT NULL,
  -- Of the node and its rendered input.
  digest text NOT NULL,
  PRIMARY KEY (run_id, step_key)
);

-- A step without a record, which may not be executed.
ALTER TABLE steps DROP CONSTRAINT steps_status_check;
ALTER TABLE steps ADD CONSTRAINT steps_status_check CHECK (status = ANY (ARRAY[
  'running'::text, 'success'::text, 'failed'::text, 'paused'::text, 'skipped'::text, 'cancelled'::text,
  'unrecorded'::text])) NOT VALID;
ALTER TABLE steps VALIDATE CONSTRAINT steps_status_check;
