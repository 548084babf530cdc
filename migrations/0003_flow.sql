-- What a step waits for: a time or an event. The row decides whether it came or its time ran out.
-- `waits_for`: see shared/graph/waits/wait-call.ts. `due_at`: the time, or the deadline. `epoch` counts the resumes of the run.
-- `series`: see shared/graph/waits/series.ts. `event_id`: the event that came. `remind_at`: when to send the alert that the run
-- waits; null once it was sent.
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
  remind_at    timestamptz,
  ended_at     timestamptz,
  output       json,
  series       text NOT NULL,
  event_id     text,
  PRIMARY KEY (run_id, step_key)
);
-- Whether a `running` run does nothing but wait, so that the phase since `phase_since` counts as waiting.
ALTER TABLE runs ADD COLUMN at_rest boolean NOT NULL DEFAULT false;

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
  matched_after bigint NOT NULL DEFAULT 0,
  paths         text[] NOT NULL DEFAULT '{}',
  PRIMARY KEY (workspace_id, name)
);
CREATE INDEX event_names_behind ON event_names (workspace_id, name) WHERE matched < seq;

-- `given_id`: the caller's id, under which the same event is stored once. `id_scope`: of whom that id is: empty for requests and
-- runs, else the workflow with the webhook, or the inbound event that was replayed. `depth`: how many runs that events have
-- started came before it.
CREATE TABLE events (
  id              text PRIMARY KEY,
  workspace_id    text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name            text NOT NULL,
  seq             bigint NOT NULL,
  given_id        text,
  id_scope        text NOT NULL DEFAULT '',
  data            json NOT NULL,
  source          text NOT NULL CHECK (source IN ('api', 'tool', 'webhook', 'data')),
  created_by      text,
  created_by_name text,
  run_id          text,
  inbound_event_id text,
  depth           integer NOT NULL DEFAULT 0,
  woke            integer NOT NULL DEFAULT 0,
  created_at      timestamptz NOT NULL DEFAULT clock_timestamp(),
  UNIQUE (workspace_id, name, seq)
);
CREATE UNIQUE INDEX events_given_id ON events (workspace_id, id_scope, given_id) WHERE given_id IS NOT NULL;
CREATE INDEX events_newest ON events (workspace_id, created_at DESC, id DESC);

-- A run for each event of this name that matches. `match`: over `event`. `input`: templates over `event`; null: the data of the
-- event. `editors`: who decided what it starts, besides the one who created it.
CREATE TABLE event_triggers (
  id           text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  workflow_id  text NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  event        text NOT NULL,
  match        text,
  input        json,
  enabled      boolean NOT NULL,
  created_by   text,
  editors      text[] NOT NULL DEFAULT '{}',
  created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX event_triggers_of_workflow ON event_triggers (workflow_id, created_at);
CREATE INDEX event_triggers_of_workspace ON event_triggers (workspace_id);

-- The events that an open wait or an enabled trigger waits for, one row each. `path` and `value`: what the event must have, to
-- find it; an empty path: every event of that name must be compared. `after_seq`: earlier events do not count for a trigger.
-- Data events are only stored if a row here, or the graph of an open run, has their name.
CREATE TABLE awaited_events (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id       text,
  step_key     text,
  place        integer NOT NULL DEFAULT 0,
  trigger_id   text REFERENCES event_triggers (id) ON DELETE CASCADE,
  workspace_id text NOT NULL,
  name         text NOT NULL,
  path         text NOT NULL DEFAULT '',
  value        text NOT NULL DEFAULT '',
  match        text,
  state        json NOT NULL DEFAULT '{}',
  after_seq    bigint NOT NULL DEFAULT 0,
  UNIQUE (run_id, step_key, place),
  UNIQUE (trigger_id),
  FOREIGN KEY (run_id, step_key) REFERENCES run_waits (run_id, step_key) ON DELETE CASCADE,
  CONSTRAINT awaited_by_one CHECK (num_nonnulls(run_id, trigger_id) = 1 AND (run_id IS NULL) = (step_key IS NULL))
);
CREATE INDEX awaited_events_value ON awaited_events (workspace_id, name, path, value, id);

-- The events of the data API that the waits of a graph have: of a version, or of a run with a graph of its own. Filled from the
-- first version with a wait on, so older versions have no rows.
CREATE TABLE graph_events (
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name         text NOT NULL,
  workflow_id  text,
  version      integer,
  run_id       text REFERENCES runs (id) ON DELETE CASCADE,
  FOREIGN KEY (workflow_id, version) REFERENCES workflow_versions (workflow_id, version) ON DELETE CASCADE,
  CONSTRAINT graph_of_one CHECK ((run_id IS NULL) = (version IS NOT NULL) AND (version IS NULL) = (workflow_id IS NULL))
);
CREATE UNIQUE INDEX graph_events_of_version ON graph_events (workflow_id, version, name) WHERE run_id IS NULL;
CREATE UNIQUE INDEX graph_events_of_run ON graph_events (run_id, name) WHERE run_id IS NOT NULL;
CREATE INDEX graph_events_of_name ON graph_events (workspace_id, name);

CREATE FUNCTION data_events_of(graph json) RETURNS SETOF text LANGUAGE sql IMMUTABLE AS $$
  SELECT DISTINCT e ->> 'name'
  FROM json_array_elements(CASE WHEN json_typeof(graph -> 'nodes') = 'array' THEN graph -> 'nodes' ELSE '[]' END) AS n
  CROSS JOIN LATERAL (
    SELECT n -> 'event' AS e
    UNION ALL
    SELECT json_array_elements(CASE WHEN json_typeof(n -> 'any') = 'array' THEN n -> 'any' ELSE '[]' END)
  ) AS events
  WHERE n ->> 'kind' = 'wait' AND json_typeof(e) = 'object'
    AND e ->> 'name' ~ '^(entity|intelligence_event|feed|source)[.]'
$$;
CREATE FUNCTION note_graph_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF TG_TABLE_NAME = 'runs' THEN
    INSERT INTO graph_events (workspace_id, name, run_id)
    SELECT NEW.workspace_id, e, NEW.id FROM data_events_of(NEW.graph) AS e;
  ELSE
    INSERT INTO graph_events (workspace_id, name, workflow_id, version)
    SELECT w.workspace_id, e, NEW.workflow_id, NEW.version
    FROM workflows w CROSS JOIN data_events_of(NEW.graph) AS e WHERE w.id = NEW.workflow_id;
  END IF;
  RETURN NULL;
END $$;
CREATE TRIGGER workflow_versions_events AFTER INSERT ON workflow_versions
  FOR EACH ROW EXECUTE FUNCTION note_graph_events();
CREATE TRIGGER runs_events AFTER INSERT ON runs
  FOR EACH ROW WHEN (NEW.graph IS NOT NULL) EXECUTE FUNCTION note_graph_events();

-- What a trigger made of an event that may match: a run, or why there is none. Without both, the start is due.
CREATE TABLE event_starts (
  trigger_id   text NOT NULL REFERENCES event_triggers (id) ON DELETE CASCADE,
  event_id     text NOT NULL REFERENCES events (id) ON DELETE CASCADE,
  workspace_id text NOT NULL,
  run_id       text,
  refusal      text,
  leased_until timestamptz,
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (trigger_id, event_id)
);
CREATE INDEX event_starts_of_event ON event_starts (event_id);
CREATE INDEX event_starts_newest ON event_starts (trigger_id, created_at DESC);
CREATE INDEX event_starts_refused ON event_starts (trigger_id, created_at DESC) WHERE refusal IS NOT NULL;
CREATE INDEX event_starts_due ON event_starts (created_at) WHERE run_id IS NULL AND refusal IS NULL;

-- The trigger and the event that started a run, and how many runs that events have started came before it.
ALTER TABLE runs ADD COLUMN trigger_id text, ADD COLUMN event_id text, ADD COLUMN event_depth integer;

ALTER TABLE runs DROP CONSTRAINT runs_trigger_check,
  ADD CONSTRAINT runs_trigger_check CHECK (trigger IN ('manual', 'webhook', 'mcp', 'schedule', 'workflow', 'event')) NOT VALID;

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
  ADD CONSTRAINT steps_kind_check CHECK (kind IN ('agent', 'tool', 'condition', 'loop', 'human_gate', 'merge', 'map', 'workflow', 'wait', 'code')) NOT VALID;

-- An inbound webhook can send events of a name, instead of starting runs.
ALTER TABLE workflow_webhooks ADD COLUMN event text;
ALTER TABLE webhook_signatures ADD COLUMN sent_event_id text, ALTER COLUMN run_id DROP NOT NULL;
ALTER TABLE inbound_events ADD COLUMN sent_event_id text,
  DROP CONSTRAINT inbound_events_outcome_check,
  ADD CONSTRAINT inbound_events_outcome_check CHECK (outcome IN ('run', 'event', 'duplicate', 'refused')) NOT VALID;
ALTER TABLE inbound_event_replays ADD COLUMN sent_event_id text,
  DROP CONSTRAINT inbound_event_replays_pkey, ALTER COLUMN run_id DROP NOT NULL,
  ADD CONSTRAINT inbound_event_replays_one CHECK (num_nonnulls(run_id, sent_event_id) = 1) NOT VALID;
CREATE UNIQUE INDEX inbound_event_replays_run ON inbound_event_replays (run_id) WHERE run_id IS NOT NULL;

-- What the code of a step begins with, each time it is executed: where its clock is, and the seed of its random numbers. `log`: of
-- its last execution. A run that starts from another one begins with the same.
CREATE TABLE step_code (
  run_id   text NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  step_key text NOT NULL,
  clock    timestamptz NOT NULL DEFAULT date_trunc('milliseconds', clock_timestamp()),
  seed     text NOT NULL,
  log      text,
  PRIMARY KEY (run_id, step_key)
);
CREATE FUNCTION copy_step_code() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO step_code (run_id, step_key, clock, seed)
  SELECT NEW.id, c.step_key, c.clock, c.seed FROM step_code c WHERE c.run_id = NEW.forked_from;
  RETURN NEW;
END $$;
CREATE TRIGGER runs_copy_step_code AFTER INSERT ON runs
  FOR EACH ROW WHEN (NEW.forked_from IS NOT NULL) EXECUTE FUNCTION copy_step_code();

-- A custom tool can be code instead of an address.
ALTER TABLE custom_tools ADD COLUMN source text, ADD COLUMN language text NOT NULL DEFAULT 'javascript',
  DROP CONSTRAINT custom_tools_kind_check,
  ADD CONSTRAINT custom_tools_kind_check CHECK (kind IN ('http', 'mcp', 'code')) NOT VALID,
  ADD CONSTRAINT custom_tools_source_check CHECK ((kind = 'code') = (source IS NOT NULL)) NOT VALID;

-- Whether the member gave the output instead of the step.
ALTER TABLE workflow_pins ADD COLUMN edited boolean NOT NULL DEFAULT false;

-- `alerted_percent`: of the limit, the highest mark that an alert was queued for in the window that began at `alerted_window`.
ALTER TABLE budgets ADD COLUMN alerts boolean NOT NULL DEFAULT true,
  ADD COLUMN alerted_window timestamptz,
  ADD COLUMN alerted_percent smallint NOT NULL DEFAULT 0;
