-- The limits of a workflow, as the contract has them; `revision` counts their changes. Whoever gives or takes a place of a run locks
-- the row. It stays when the limits are removed, because runs may still have places.
CREATE TABLE workflow_limits (
  workflow_id  text PRIMARY KEY REFERENCES workflows (id) ON DELETE CASCADE,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  revision     integer NOT NULL,
  settings     json NOT NULL
);

-- The revision of the limits; NULL: the workflow has none. An admission reads it with the workflow's row.
ALTER TABLE workflows ADD COLUMN limits_revision integer;

-- The limits of the workflows that are created from it; NULL: none.
ALTER TABLE templates ADD COLUMN limits json;

-- For a run under limits: its keys and priority, as they were when it was triggered. A resume needs its slot again.
ALTER TABLE runs ADD COLUMN limits json;

-- The place of a run under limits. It waits for a slot of its key or a token of the rate, holds a slot, or is leaving: the run has ended, and its slot is
-- free once none of its steps has a claim. A run that gives up its slot while it is paused is pausing until none of its steps has
-- a claim, then away; it keeps its number. `kind` and `payload`: the message to Temporal when it gets its slot. `due_at`: when a
-- leaving or pausing place is looked at.
CREATE TABLE run_places (
  run_id       text PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  workspace_id text NOT NULL,
  workflow_id  text NOT NULL,
  key          text,
  rate_key     text,
  priority     smallint NOT NULL DEFAULT 0,
  seq          bigint GENERATED ALWAYS AS IDENTITY,
  state        text NOT NULL CHECK (state IN ('waiting', 'holding', 'leaving', 'pausing', 'away')),
  kind         text NOT NULL CHECK (kind IN ('start', 'resume', 'continue')),
  payload      json NOT NULL DEFAULT '{}',
  queued_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  taken_at     timestamptz,
  due_at       timestamptz NOT NULL DEFAULT '-infinity'
);
CREATE INDEX run_places_of_key ON run_places (workflow_id, key, state, priority DESC, seq);
CREATE INDEX run_places_of_rate ON run_places (workflow_id, rate_key, priority DESC, seq) WHERE state = 'waiting';
CREATE INDEX run_places_waiting ON run_places (workspace_id, workflow_id, key) WHERE state = 'waiting';
CREATE INDEX run_places_of_workspace ON run_places (workspace_id, workflow_id, key);
CREATE INDEX run_places_leaving ON run_places (due_at) WHERE state IN ('leaving', 'pausing');

-- The starts of runs under a limit of their rate. Those that are older than its window do not count.
CREATE TABLE rate_tokens (
  workflow_id text NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  key         text NOT NULL,
  taken_at    timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX rate_tokens_newest ON rate_tokens (workflow_id, key, taken_at DESC);
CREATE INDEX rate_tokens_oldest ON rate_tokens (taken_at);

-- The keys of rates for which runs wait, and when the next one may start.
CREATE TABLE rate_queues (
  workflow_id  text NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  workspace_id text NOT NULL,
  key          text NOT NULL,
  due_at       timestamptz NOT NULL,
  PRIMARY KEY (workflow_id, key)
);
CREATE INDEX rate_queues_due ON rate_queues (due_at);

-- The end of a run frees its slot in the same transaction.
CREATE FUNCTION leave_place() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  -- A place that is pausing may be about to become away.
  PERFORM FROM run_places p WHERE p.run_id = NEW.id FOR UPDATE;
  DELETE FROM run_places p WHERE p.run_id = NEW.id AND p.state NOT IN ('holding', 'pausing', 'leaving');
  UPDATE run_places p SET state = 'leaving' WHERE p.run_id = NEW.id AND p.state IN ('holding', 'pausing');
  RETURN NEW;
END $$;
CREATE TRIGGER runs_leave_place AFTER UPDATE OF status ON runs
  FOR EACH ROW WHEN (NEW.limits IS NOT NULL AND NEW.status IN ('success', 'failed')) EXECUTE FUNCTION leave_place();

-- Whether a pause of a run gives up its slot. A run keeps it while a step of it waits for a free call of a tool or model, which
-- continues without a person; and if a run above it has the same key, since that one holds its slot until this one ends.
CREATE FUNCTION gives_up_slot(run runs) RETURNS boolean LANGUAGE plpgsql STABLE AS $$
BEGIN
  RETURN EXISTS (
      SELECT FROM workflow_limits l
      WHERE l.workflow_id = run.workflow_id AND l.settings -> 'concurrency' ->> 'hold_while_paused' = 'false')
    AND NOT EXISTS (SELECT FROM call_waits w WHERE w.run_id = run.id)
    AND (run.parent_run_id IS NULL OR NOT EXISTS (
      SELECT FROM runs_above(run.parent_run_id) AS a JOIN runs r ON r.id = a.id
      WHERE r.workflow_id = run.workflow_id AND r.limits ->> 'key' = run.limits ->> 'key'));
END $$;
CREATE FUNCTION pause_place() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF gives_up_slot(NEW) THEN
    UPDATE run_places p SET state = 'pausing', due_at = '-infinity' WHERE p.run_id = NEW.id AND p.state = 'holding';
  END IF;
  RETURN NEW;
END $$;
CREATE TRIGGER runs_pause_place AFTER UPDATE OF status ON runs
  FOR EACH ROW WHEN (NEW.limits IS NOT NULL AND NEW.status = 'paused' AND OLD.status <> 'paused') EXECUTE FUNCTION pause_place();

ALTER TABLE outbox DROP CONSTRAINT outbox_kind_check,
  ADD CONSTRAINT outbox_kind_check
    CHECK (kind IN ('start', 'decision', 'cancel', 'resume', 'continue', 'alert', 'child', 'job', 'waited')) NOT VALID;
