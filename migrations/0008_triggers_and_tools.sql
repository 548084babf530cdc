-- Other ways to start a run, and tools of a workspace's own.

-- Inbound webhooks. One per workflow; without a row, or without a secret, it is disabled.
CREATE TABLE workflow_webhooks (
  workflow_id                 text PRIMARY KEY REFERENCES workflows ON DELETE CASCADE,
  workspace_id                text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  -- Readable, not hashed: the URL that is shown holds it, and signatures are made with it.
  secret                      text CHECK (secret ~ '^[0-9a-f]{32}$'),
  require_signature           boolean NOT NULL DEFAULT false,
  timestamp_tolerance_seconds integer NOT NULL DEFAULT 300 CHECK (timestamp_tolerance_seconds > 0),
  dedup_window_seconds        integer NOT NULL DEFAULT 0 CHECK (dedup_window_seconds >= 0),
  event_id_field              text NOT NULL DEFAULT 'event_id'
);

-- Events that have started a run, for as long as the window lasts in which they are told from new ones.
CREATE TABLE webhook_events (
  workflow_id text NOT NULL REFERENCES workflows ON DELETE CASCADE,
  event_id    text NOT NULL,
  run_id      text NOT NULL,
  received_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workflow_id, event_id)
);
CREATE INDEX webhook_events_by_age ON webhook_events (workflow_id, received_at);

-- Schedules. What Temporal keeps of one is made from its row.
CREATE TABLE schedules (
  id               text PRIMARY KEY,
  workspace_id     text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  workflow_id      text NOT NULL REFERENCES workflows ON DELETE CASCADE,
  name             text,
  cron             text NOT NULL,
  timezone         text NOT NULL DEFAULT 'UTC',
  input            json NOT NULL DEFAULT '{}',
  enabled          boolean NOT NULL DEFAULT true,
  overlap          text NOT NULL DEFAULT 'skip' CHECK (overlap IN ('skip', 'allow')),
  -- What was due before it was made, or before its times were changed, is not caught up with.
  effective_from   timestamptz NOT NULL DEFAULT date_trunc('second', now()),
  -- Rises with each change; Temporal has been told of all up to `told_revision`. Who tells it holds the lease.
  revision         integer NOT NULL DEFAULT 1,
  told_revision    integer NOT NULL DEFAULT 0,
  told_at          timestamptz,
  leased_until     timestamptz,
  last_run_at      timestamptz,
  last_run_id      text,
  last_skip_at     timestamptz,
  last_skip_reason text,
  created_by       text,
  created_at       timestamptz NOT NULL DEFAULT now(),
  CHECK ((last_skip_at IS NULL) = (last_skip_reason IS NULL))
);
CREATE INDEX schedules_by_workspace ON schedules (workspace_id, created_at DESC, id DESC);
CREATE INDEX schedules_by_workflow ON schedules (workflow_id);
CREATE INDEX schedules_to_tell ON schedules (id) WHERE told_revision < revision;
ALTER TABLE runs
  ADD COLUMN schedule_id text,
  -- The time at which the schedule was due; null when somebody triggered it by hand.
  ADD COLUMN due_at timestamptz;
CREATE UNIQUE INDEX runs_one_per_tick ON runs (schedule_id, due_at) WHERE due_at IS NOT NULL;
CREATE INDEX runs_live_by_schedule ON runs (schedule_id) WHERE schedule_id IS NOT NULL AND status IN ('pending', 'running', 'paused');

-- Custom tools, called from workflows as `custom:<name>`.
CREATE TABLE custom_tools (
  id              text PRIMARY KEY,
  workspace_id    text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  name            text NOT NULL CHECK (name ~ '^[a-z][a-z0-9_-]{0,63}$'),
  label           text NOT NULL DEFAULT '',
  description     text NOT NULL DEFAULT '',
  kind            text NOT NULL DEFAULT 'http' CHECK (kind IN ('http', 'mcp')),
  endpoint_url    text NOT NULL,
  method          text NOT NULL DEFAULT 'POST',
  -- Each value sealed; names are readable.
  headers         json NOT NULL DEFAULT '{}',
  mcp_tool        text CHECK ((kind = 'mcp') = (mcp_tool IS NOT NULL)),
  input_schema    json,
  timeout_seconds integer NOT NULL DEFAULT 60 CHECK (timeout_seconds > 0),
  retry_count     integer NOT NULL DEFAULT 1 CHECK (retry_count >= 0),
  created_by      text,
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now(),
  UNIQUE (workspace_id, name)
);
-- Rises whenever a tool comes or goes: a graph that names some was checked for one revision.
ALTER TABLE workspaces ADD COLUMN tool_revision integer NOT NULL DEFAULT 0;

-- Graphs that somebody saved to begin others with. The ones that come with the service are not here.
CREATE TABLE templates (
  id           text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  name         text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  description  text NOT NULL DEFAULT '',
  graph        json NOT NULL,
  checks       json NOT NULL DEFAULT '[]',
  sample_input json NOT NULL DEFAULT '{}',
  created_by   text,
  created_at   timestamptz NOT NULL DEFAULT now(),
  updated_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX templates_by_workspace ON templates (workspace_id, created_at DESC, id DESC);
