-- Background jobs: work over a workspace's history with a row here and an execution in Temporal. The row decides: its
-- status, and after which page it continues.
CREATE TABLE background_jobs (
  id text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces(id) ON DELETE CASCADE,
  kind text NOT NULL CHECK (kind IN ('backtest')),
  status text NOT NULL DEFAULT 'running' CHECK (status IN ('running', 'done', 'cancelled', 'failed')),
  request json NOT NULL,
  -- Where the next page begins; null: at the beginning.
  "position" json,
  -- Counts the pages that were kept. A page is kept only by who has read the one before.
  pages integer NOT NULL DEFAULT 0,
  done bigint NOT NULL DEFAULT 0,
  -- Null until it was counted.
  total bigint,
  result json NOT NULL DEFAULT '{}',
  error text,
  -- Counts the executions: a job whose execution was lost gets another one.
  round integer NOT NULL DEFAULT 1,
  created_by text,
  created_by_name text,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  finished_at timestamptz,
  CHECK ((status = 'running') = (finished_at IS NULL))
);
CREATE INDEX background_jobs_by_workspace ON background_jobs (workspace_id, kind, created_at DESC, id DESC);
CREATE INDEX background_jobs_running ON background_jobs (updated_at) WHERE status = 'running';

-- Steps that other policies would have judged differently.
CREATE TABLE backtest_findings (
  job_id text NOT NULL REFERENCES background_jobs(id) ON DELETE CASCADE,
  -- In the order in which they were found, from 1.
  n integer NOT NULL,
  effect text NOT NULL CHECK (effect IN ('would_block', 'would_redact', 'would_allow')),
  run_id text NOT NULL,
  step_key text NOT NULL,
  node_id text NOT NULL,
  before text NOT NULL CHECK (before IN ('allowed', 'redacted', 'blocked')),
  after text NOT NULL CHECK (after IN ('allowed', 'redacted', 'blocked')),
  reason text NOT NULL,
  PRIMARY KEY (job_id, n)
);

ALTER TABLE outbox
  DROP CONSTRAINT outbox_kind_check,
  ADD CONSTRAINT outbox_kind_check
    CHECK (kind IN ('start', 'decision', 'cancel', 'resume', 'alert', 'child', 'job')) NOT VALID;
