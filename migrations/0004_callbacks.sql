-- A step can also wait until somebody sends a POST to the address that stands for it.
ALTER TABLE run_waits DROP CONSTRAINT run_waits_kind_check,
  ADD CONSTRAINT run_waits_kind_check CHECK (kind IN ('time', 'event', 'callback')) NOT VALID;

-- What was sent to the address of a step, also before the step was reached. Only the first counts. The address itself is not
-- stored: it is derived from the key of the service.
CREATE TABLE run_callbacks (
  run_id      text NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  step_key    text NOT NULL,
  body        json NOT NULL,
  received_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (run_id, step_key)
);
