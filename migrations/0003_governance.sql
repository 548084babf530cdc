-- What a workspace allows agents and tools. No row: everything. Its revision is on the workspace, where a step reads
-- it with one look-up by key: a step begins only while it was judged by the revision that stands there.
CREATE TABLE workspace_policies (
  workspace_id text PRIMARY KEY REFERENCES workspaces ON DELETE CASCADE,
  policies     json NOT NULL,
  updated_at   timestamptz NOT NULL DEFAULT now()
);
ALTER TABLE workspaces ADD COLUMN policy_revision integer NOT NULL DEFAULT 0;

-- What policies, budgets and overrides decided. No reference to workflow and run: a decision stays when they are gone.
CREATE TABLE governance_events (
  -- The first 48 bits of a random UUID, as twelve hex digits.
  id           text PRIMARY KEY DEFAULT left(replace(gen_random_uuid()::text, '-', ''), 12)
               CHECK (id ~ '^[0-9a-f]{12}$'),
  -- Newest first is by this number: several events of one statement have one time.
  seq          bigint GENERATED ALWAYS AS IDENTITY UNIQUE,
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  type         text NOT NULL CHECK (type IN ('policy_denied', 'tool_argument_blocked', 'data_redacted', 'budget_blocked',
                                             'model_fallback_blocked', 'approval_override_granted')),
  workflow_id  text,
  version      integer,
  run_id       text,
  node_id      text,
  policy       text NOT NULL CHECK (policy IN ('tool_permission', 'tool_argument', 'dlp', 'model_allowlist', 'budget',
                                               'fallback')),
  actor_id     text,
  decision     text NOT NULL CHECK (decision IN ('blocked', 'denied', 'redacted', 'granted')),
  reason       text NOT NULL,
  evidence     json NOT NULL DEFAULT '{}',
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX governance_events_by_workspace ON governance_events (workspace_id, seq DESC);
CREATE INDEX governance_events_by_run ON governance_events (run_id, seq DESC) WHERE run_id IS NOT NULL;
CREATE INDEX governance_events_by_workflow ON governance_events (workflow_id, seq DESC) WHERE workflow_id IS NOT NULL;
CREATE INDEX governance_events_by_type ON governance_events (workspace_id, type, seq DESC);
CREATE INDEX governance_events_by_decision ON governance_events (workspace_id, decision, seq DESC);
