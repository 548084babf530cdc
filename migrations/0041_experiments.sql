ALTER TABLE background_jobs
  DROP CONSTRAINT background_jobs_kind_check,
  ADD CONSTRAINT background_jobs_kind_check CHECK (kind IN ('backtest', 'experiment')) NOT VALID;

-- What a job of the kind `experiment` tries on past runs of a workflow.
CREATE TABLE experiments (
  id             text PRIMARY KEY REFERENCES background_jobs (id) ON DELETE CASCADE,
  workspace_id   text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  workflow_id    text NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  -- Null for a draft. Graph and schema are those of the version or of the draft as it was.
  version        integer,
  graph          json NOT NULL,
  input_schema   json,
  -- Of graph and schema: shows whether a draft is the one that was tried.
  content_digest text NOT NULL,
  -- Those of the workflow as it was. Both runs of a pair are scored by them.
  checks         json NOT NULL,
  -- How rehearsals execute what has no record.
  rules          json NOT NULL,
  budget_micros  bigint CHECK (budget_micros > 0),
  created_at     timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX experiments_by_workflow ON experiments (workflow_id, created_at DESC, id DESC);
CREATE INDEX experiments_by_content ON experiments (workflow_id, content_digest, created_at DESC);

-- The runs of an experiment, and what the rehearsal of each has shown.
CREATE TABLE experiment_runs (
  experiment_id    text NOT NULL REFERENCES experiments (id) ON DELETE CASCADE,
  n                integer NOT NULL,
  -- It may have been deleted since.
  run_id           text NOT NULL,
  rehearsal_run_id text,
  outcome          text CHECK (outcome IN ('equal', 'changed', 'failed', 'unrecorded', 'refused')),
  -- Orders the runs that are done, the worst with the highest.
  badness          integer,
  reason           text,
  diff             json,
  checks_won       json,
  checks_lost      json,
  -- Null where there is nothing to compare. The durations are those of the steps.
  base_micros      bigint,
  candidate_micros bigint,
  base_ms          bigint,
  candidate_ms     bigint,
  PRIMARY KEY (experiment_id, n),
  UNIQUE (experiment_id, run_id),
  CHECK ((outcome IS NULL) = (badness IS NULL))
);
CREATE INDEX experiment_runs_worst ON experiment_runs (experiment_id, badness DESC, n) WHERE outcome IS NOT NULL;
CREATE INDEX experiment_runs_open ON experiment_runs (experiment_id, n) WHERE outcome IS NULL;

-- The experiment whose rehearsal it is: one of each run.
ALTER TABLE runs ADD COLUMN experiment_id text;
ALTER TABLE runs
  ADD CONSTRAINT runs_experiment_id_fkey FOREIGN KEY (experiment_id) REFERENCES experiments (id) ON DELETE SET NULL NOT VALID;
CREATE UNIQUE INDEX runs_one_per_experiment ON runs (experiment_id, forked_from) WHERE experiment_id IS NOT NULL;

-- Publishing needs an experiment of exactly what is published.
ALTER TABLE workflows ADD COLUMN requires_experiment boolean NOT NULL DEFAULT false;

-- The experiment with a budget to which a run belongs, by itself or through a run above it.
CREATE FUNCTION budgeted_experiment(run text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (
    SELECT e.id FROM runs_above(run) a JOIN runs r ON r.id = a.id JOIN experiments e ON e.id = r.experiment_id
    WHERE e.budget_micros IS NOT NULL LIMIT 1);
END
$$;

-- What the rehearsals of an experiment and the runs below them have cost, and what their steps in progress, except one,
-- may still cost. An attempt whose worker died counts only until its claim expires. Reads what is committed now, also
-- after a wait for locks.
CREATE FUNCTION experiment_spending(experiment text, except_run text, except_step text)
RETURNS TABLE (spent_micros bigint, pending_micros bigint, pending_unknown boolean)
LANGUAGE plpgsql VOLATILE ROWS 1 AS $$
#variable_conflict use_column
BEGIN
  RETURN QUERY WITH RECURSIVE tree AS (
    SELECT r.id FROM runs r WHERE r.experiment_id = experiment
    UNION ALL
    SELECT r.id FROM tree t JOIN runs r ON r.parent_run_id = t.id
  )
  SELECT coalesce(sum(r.cost_micros), 0)::bigint, coalesce(sum(f.micros), 0)::bigint, coalesce(bool_or(f.unknown), false)
  FROM tree t JOIN runs r ON r.id = t.id
  CROSS JOIN LATERAL (
    SELECT coalesce(sum(s.expected_micros), 0) AS micros, coalesce(bool_or(s.expected_unknown), false) AS unknown
    FROM steps s
    WHERE r.status IN ('pending', 'running', 'paused') AND s.run_id = r.id AND s.status = 'running'
      AND s.claim_until > clock_timestamp() AND NOT (s.run_id = except_run AND s.step_key = except_step)) AS f;
END
$$;
