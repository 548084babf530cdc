-- Payloads (inputs, outputs, state) are `json`, not `jsonb`: they are stored and handed back as they came, never
-- searched, and skipping the binary form is the cheaper write. What we filter or join on is a column of its own.

CREATE TABLE workspaces (
  id         text PRIMARY KEY,
  name       text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  plan       text NOT NULL DEFAULT 'free' CHECK (plan IN ('free', 'starter', 'pro', 'enterprise')),
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE members (
  id           text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  name         text NOT NULL,
  email        text NOT NULL,
  role         text NOT NULL CHECK (role IN ('admin', 'editor', 'viewer')),
  status       text NOT NULL CHECK (status IN ('active', 'invited', 'pending')),
  overrides    jsonb NOT NULL DEFAULT '{}',
  is_owner     boolean NOT NULL DEFAULT false,
  created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE UNIQUE INDEX members_email ON members (lower(email));
CREATE UNIQUE INDEX members_owner ON members (workspace_id) WHERE is_owner;

CREATE TABLE workspace_prices (
  workspace_id               text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  model                      text NOT NULL,
  input_usd_per_million      numeric(14, 6) NOT NULL CHECK (input_usd_per_million >= 0),
  output_usd_per_million     numeric(14, 6) NOT NULL CHECK (output_usd_per_million >= 0),
  PRIMARY KEY (workspace_id, model)
);

CREATE TABLE workflows (
  id              text PRIMARY KEY,
  workspace_id    text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  name            text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  description     text NOT NULL DEFAULT '',
  status          text NOT NULL DEFAULT 'draft' CHECK (status IN ('draft', 'published')),
  version         integer NOT NULL DEFAULT 1 CHECK (version > 0),
  checks          json NOT NULL DEFAULT '[]',
  run_cap_micros  bigint CHECK (run_cap_micros > 0),
  created_by      text,
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX workflows_by_workspace ON workflows (workspace_id, created_at DESC, id DESC);

CREATE TABLE workflow_versions (
  workflow_id text NOT NULL REFERENCES workflows ON DELETE CASCADE,
  version     integer NOT NULL,
  graph       json NOT NULL,
  created_by  text,
  created_at  timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workflow_id, version)
);

CREATE TABLE runs (
  id                 text PRIMARY KEY,
  workspace_id       text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  workflow_id        text NOT NULL REFERENCES workflows ON DELETE CASCADE,
  workflow_version   integer NOT NULL,
  status             text NOT NULL DEFAULT 'pending'
                     CHECK (status IN ('pending', 'running', 'paused', 'success', 'failed')),
  trigger            text NOT NULL CHECK (trigger IN ('manual', 'webhook', 'mcp', 'schedule')),
  input              json NOT NULL,
  state              json,
  output             json,
  error              text,
  failure            json,
  evals              json,
  cost_micros        bigint NOT NULL DEFAULT 0 CHECK (cost_micros >= 0),
  cost_cap_micros    bigint CHECK (cost_cap_micros >= 0),
  created_by         text,
  created_by_name    text,
  created_at         timestamptz NOT NULL DEFAULT now(),
  started_at         timestamptz,
  finished_at        timestamptz,
  updated_at         timestamptz NOT NULL DEFAULT now(),
  -- Time spent active and waiting at gates up to `phase_since`; the phase since then is told by the status.
  active_ms          bigint NOT NULL DEFAULT 0,
  waiting_ms         bigint NOT NULL DEFAULT 0,
  phase_since        timestamptz,
  -- Failures the execution has reported, and how many of them a resume has answered for.
  failures_reported  integer NOT NULL DEFAULT 0,
  failures_granted   integer NOT NULL DEFAULT 0 CHECK (failures_granted <= failures_reported),
  resumed_count      integer NOT NULL DEFAULT 0,
  temporal_run_id    text,
  -- Executions that a resume has put aside: whatever they still say is ignored.
  superseded         text[] NOT NULL DEFAULT '{}',
  frame_seq          bigint NOT NULL DEFAULT 0,
  -- The history can no longer be replayed: the next resume starts a new execution from the ledger.
  from_ledger        boolean NOT NULL DEFAULT false,
  -- When the reconciler first found no live execution behind an open run.
  lost_since         timestamptz,
  checked_at         timestamptz,
  FOREIGN KEY (workflow_id, workflow_version) REFERENCES workflow_versions,
  CHECK ((status IN ('success', 'failed')) = (finished_at IS NOT NULL))
);
CREATE INDEX runs_by_workspace ON runs (workspace_id, created_at DESC, id DESC);
CREATE INDEX runs_by_workflow ON runs (workflow_id, created_at DESC, id DESC);
CREATE INDEX runs_open ON runs (coalesce(checked_at, created_at)) WHERE status IN ('pending', 'running', 'paused');

CREATE TABLE idempotency_keys (
  workspace_id text NOT NULL,
  workflow_id  text NOT NULL,
  key          text NOT NULL,
  fingerprint  bytea NOT NULL,
  -- Deferred: the key is claimed before the run is written, both in one transaction.
  run_id       text NOT NULL REFERENCES runs ON DELETE CASCADE DEFERRABLE INITIALLY DEFERRED,
  created_at   timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, workflow_id, key)
);
CREATE INDEX idempotency_keys_by_run ON idempotency_keys (run_id);

CREATE TABLE steps (
  run_id       text NOT NULL REFERENCES runs ON DELETE CASCADE,
  step_key     text NOT NULL,
  node_id      text NOT NULL,
  label        text NOT NULL,
  kind         text NOT NULL CHECK (kind IN ('agent', 'tool', 'condition', 'loop', 'human_gate', 'merge')),
  iteration    integer[] NOT NULL DEFAULT '{}',
  -- State key of the output; null: the node id.
  output_key   text,
  status       text NOT NULL CHECK (status IN ('running', 'success', 'failed', 'paused', 'skipped', 'cancelled')),
  -- Tries that ended in an error of the node, and how many of them a resume has forgiven.
  errors       integer NOT NULL DEFAULT 0,
  forgiven     integer NOT NULL DEFAULT 0,
  attempts     integer NOT NULL DEFAULT 1,
  -- The run's `resumed_count` when the step was last begun: a failed step is tried again only after a resume.
  epoch        integer NOT NULL DEFAULT 0,
  -- Part of the key that outside tools deduplicate by; rises after a definite error answer.
  generation   integer NOT NULL DEFAULT 0,
  -- Who is working on it (execution and attempt) and until when that is believed.
  claim        text,
  claim_until  timestamptz,
  -- Where the step stands among the run's others: the number of its first frame.
  ordinal      bigint NOT NULL DEFAULT 0,
  -- The workflow task at which the result became part of the execution's state.
  event_id     bigint,
  queued_at    timestamptz,
  started_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  finished_at  timestamptz,
  cost_micros  bigint NOT NULL DEFAULT 0 CHECK (cost_micros >= 0),
  model        text,
  usage        json,
  unpriced     boolean NOT NULL DEFAULT false,
  input        json,
  output       json,
  error        text,
  policy       json NOT NULL DEFAULT '[]',
  PRIMARY KEY (run_id, step_key)
);

CREATE TABLE gates (
  run_id          text NOT NULL REFERENCES runs ON DELETE CASCADE,
  step_key        text NOT NULL,
  round           integer NOT NULL,
  node_id         text NOT NULL,
  label           text NOT NULL,
  prompt          text NOT NULL,
  -- Nothing follows a rejection here: it fails the run.
  fails_on_reject boolean NOT NULL,
  status          text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'approved', 'rejected')),
  input           json,
  opened_at       timestamptz NOT NULL DEFAULT clock_timestamp(),
  decided_at      timestamptz,
  decided_by      text,
  decided_by_name text,
  PRIMARY KEY (run_id, step_key, round)
);
CREATE INDEX gates_open ON gates (opened_at, run_id) WHERE status = 'open';

-- What a run's stream says, in order. The number is taken under the run's row lock, so commit order is number order.
CREATE TABLE run_frames (
  run_id     text NOT NULL REFERENCES runs ON DELETE CASCADE,
  seq        bigint NOT NULL,
  frame      json NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (run_id, seq)
);

-- What has been promised to Temporal and is not yet known to have reached it. Rows of one run are carried out in
-- order and removed when they hold. No reference to the run: a deleted run's execution still has to be ended.
CREATE TABLE outbox (
  id           bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id       text NOT NULL,
  kind         text NOT NULL CHECK (kind IN ('start', 'decision', 'cancel', 'resume')),
  payload      json NOT NULL DEFAULT '{}',
  attempts     integer NOT NULL DEFAULT 0,
  due_at       timestamptz NOT NULL DEFAULT now(),
  leased_until timestamptz,
  last_error   text,
  created_at   timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX outbox_by_run ON outbox (run_id, id);
CREATE INDEX outbox_due ON outbox (due_at);

-- Payloads too large for the event history, by content.
CREATE TABLE payloads (
  digest     text PRIMARY KEY,
  bytes      bytea NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now()
);

CREATE TABLE audit_log (
  id           text PRIMARY KEY,
  seq          bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  workspace_id text NOT NULL,
  action       text NOT NULL,
  actor_id     text,
  actor_name   text,
  target_type  text NOT NULL,
  target_id    text NOT NULL,
  details      jsonb NOT NULL DEFAULT '{}',
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX audit_log_by_workspace ON audit_log (workspace_id, seq DESC);

CREATE FUNCTION refuse_audit_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION 'the audit log is append-only' USING ERRCODE = 'insufficient_privilege';
END $$;
CREATE TRIGGER audit_log_append_only BEFORE UPDATE OR DELETE ON audit_log
  FOR EACH ROW EXECUTE FUNCTION refuse_audit_change();
CREATE TRIGGER audit_log_no_truncate BEFORE TRUNCATE ON audit_log
  FOR EACH STATEMENT EXECUTE FUNCTION refuse_audit_change();
