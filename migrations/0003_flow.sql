-- What a step waits for: a time or an event. The row decides whether it came or its time ran out.
-- `waits_for`: see shared/graph/waits/wait-call.ts. `due_at`: the time, or the deadline. `epoch` counts the resumes of the run.
-- `series`: see shared/graph/waits/series.ts. `event_id`: the event that came.
CREATE TABLE run_waits (
  run_id       text NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  step_key     text NOT NULL,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  node_id      text NOT NULL,
  label        text NOT NULL,
  kind         text NOT NULL CHECK (kind IN ('time', 'event')),
  waits_for    json NOT NULL,
  status       text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'came', 'late', 'cancelled')),
  epoch        integer NOT NULL DEFAULT 0,
  opened_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
  due_at       timestamptz,
  ended_at     timestamptz,
  output       json,
  series       text NOT NULL,
  event_id     text,
  PRIMARY KEY (run_id, step_key)
);
CREATE INDEX run_waits_taken ON run_waits (run_id, series, event_id) WHERE event_id IS NOT NULL;
CREATE INDEX run_waits_open ON run_waits (workspace_id, opened_at) WHERE status = 'open';

-- Numbers the events of each name. Whoever stores an event or opens a wait for that name locks the row, so neither misses the
-- other. Events up to `matched` were compared with the waits; of the next one, those up to `matched_after` were. `paths`: what
-- waits require of the events, to find them by value.
CREATE TABLE event_names (
  workspace_id  text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name          text NOT NULL,
  seq           bigint NOT NULL DEFAULT 0,
  matched       bigint NOT NULL DEFAULT 0,
  matched_after text NOT NULL DEFAULT '',
  paths         text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (workspace_id, name)
);
CREATE INDEX event_names_behind ON event_names (workspace_id, name) WHERE matched < seq;

-- `given_id`: the caller's id, under which the same event is stored once.
CREATE TABLE events (
  id              text PRIMARY KEY,
  workspace_id    text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name            text NOT NULL,
  seq             bigint NOT NULL,
  given_id        text,
  data            json NOT NULL,
  source          text NOT NULL CHECK (source IN ('api', 'tool')),
  created_by      text,
  created_by_name text,
  run_id          text,
  woke            integer NOT NULL DEFAULT 0,
  created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (workspace_id, name, seq)
);
CREATE UNIQUE INDEX events_given_id ON events (workspace_id, given_id) WHERE given_id IS NOT NULL;
CREATE INDEX events_newest ON events (workspace_id, created_at DESC, id DESC);

-- The events that an open wait waits for, one row each. `path` and `value`: what the event must have, to find it; an empty path:
-- every event of that name must be compared.
CREATE TABLE awaited_events (
  run_id       text NOT NULL,
  step_key     text NOT NULL,
  place        integer NOT NULL,
  workspace_id text NOT NULL,
  name         text NOT NULL,
  path         text NOT NULL DEFAULT '',
  value        text NOT NULL DEFAULT '',
  match        text,
  state        json NOT NULL DEFAULT '{}',
  PRIMARY KEY (run_id, step_key, place),
  FOREIGN KEY (run_id, step_key) REFERENCES run_waits (run_id, step_key) ON DELETE CASCADE
);
CREATE INDEX awaited_events_value ON awaited_events (workspace_id, name, path, value, run_id, step_key);

CREATE FUNCTION forget_awaited_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  DELETE FROM awaited_events a WHERE a.run_id = NEW.run_id AND a.step_key = NEW.step_key;
  RETURN NEW;
END $$;
CREATE TRIGGER run_waits_ended AFTER UPDATE OF status ON run_waits
  FOR EACH ROW WHEN (NEW.status <> 'open' AND NEW.kind = 'event') EXECUTE FUNCTION forget_awaited_events();

ALTER TABLE outbox DROP CONSTRAINT outbox_kind_check,
  ADD CONSTRAINT outbox_kind_check CHECK (kind IN ('start', 'decision', 'cancel', 'resume', 'alert', 'child', 'job', 'waited')) NOT VALID;

ALTER TABLE steps DROP CONSTRAINT steps_kind_check,
  ADD CONSTRAINT steps_kind_check CHECK (kind IN ('agent', 'tool', 'condition', 'loop', 'human_gate', 'merge', 'map', 'workflow', 'wait')) NOT VALID;
