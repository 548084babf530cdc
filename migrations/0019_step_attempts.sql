-- Attempts at steps that another attempt followed, also one after a resume. The newest attempt is the step's own row, so
-- most steps have none here.
CREATE TABLE step_attempts (
  run_id text NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  step_key text NOT NULL,
  attempt int NOT NULL,
  started_at timestamptz NOT NULL,
  ended_at timestamptz NOT NULL,
  outcome text NOT NULL CHECK (outcome IN ('failed', 'cancelled', 'interrupted')),
  error text,
  -- All attempts at a step together cost what the step costs. One that ends late adds to its own.
  cost_micros bigint NOT NULL,
  -- Of an attempt that had not ended when the next one began.
  claim text,
  PRIMARY KEY (run_id, step_key, attempt)
);

-- When the newest attempt ended, where the step goes on without it.
ALTER TABLE steps ADD COLUMN attempt_ended_at timestamptz;

-- Whatever statement begins an attempt counts it, and that keeps the one before. Volatile: the sum is of what is
-- committed now, and the statement holds the run's row.
CREATE FUNCTION keep_attempt() RETURNS trigger LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  INSERT INTO step_attempts (run_id, step_key, attempt, started_at, ended_at, outcome, error, cost_micros, claim)
  VALUES (OLD.run_id, OLD.step_key, OLD.attempts, coalesce(OLD.attempt_started_at, OLD.started_at),
          coalesce(OLD.attempt_ended_at, OLD.finished_at, NEW.attempt_started_at, clock_timestamp()),
          CASE WHEN OLD.attempt_ended_at IS NOT NULL AND OLD.error IS NOT NULL THEN 'failed'
               WHEN OLD.attempt_ended_at IS NULL AND OLD.status IN ('failed', 'cancelled') THEN OLD.status
               ELSE 'interrupted' END,
          OLD.error,
          OLD.cost_micros - (SELECT coalesce(sum(a.cost_micros), 0) FROM step_attempts a
                             WHERE a.run_id = OLD.run_id AND a.step_key = OLD.step_key),
          OLD.claim)
  ON CONFLICT DO NOTHING;
  RETURN NULL;
END $$;

CREATE TRIGGER steps_keep_attempt AFTER UPDATE ON steps
  FOR EACH ROW WHEN (NEW.attempts > OLD.attempts) EXECUTE FUNCTION keep_attempt();
