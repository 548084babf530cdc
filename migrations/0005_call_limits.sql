-- Calls of tools and models that a limit in the policies counts. `scope`: the workspace, the limit and the key, as a digest. A call
-- is in flight while the step has this claim, and takes one of the calls per minute from `taken_at` on. Where calls per minute are
-- limited (`rated`), the row of an ended call stays for a minute.
CREATE TABLE limited_calls (
  scope        text NOT NULL,
  run_id       text NOT NULL,
  step_key     text NOT NULL,
  claim        text NOT NULL,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  rated        boolean NOT NULL,
  ended        boolean NOT NULL DEFAULT false,
  taken_at     timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (run_id, step_key, claim, scope)
);
CREATE INDEX limited_calls_of_scope ON limited_calls (scope, taken_at);
CREATE INDEX limited_calls_of_workspace ON limited_calls (workspace_id);

-- Steps that wait for a free call, in the order of `seq`. `scope` and the limit: those that have no free call. `target`: the tool or
-- the model. `look_at`: when the execution tries again if it is not woken before. `woken_at`: it was woken, and its call is kept
-- free for some seconds.
CREATE TABLE call_waits (
  run_id       text NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  step_key     text NOT NULL,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  node_id      text NOT NULL,
  label        text NOT NULL,
  seq          bigint GENERATED ALWAYS AS IDENTITY,
  scope        text NOT NULL,
  target       text NOT NULL,
  key          text,
  concurrency  integer,
  per_minute   integer,
  since        timestamptz NOT NULL DEFAULT clock_timestamp(),
  look_at      timestamptz NOT NULL,
  woken_at     timestamptz,
  PRIMARY KEY (run_id, step_key)
);
CREATE INDEX call_waits_of_scope ON call_waits (scope, seq);
CREATE INDEX call_waits_of_workspace ON call_waits (workspace_id);
