-- Runs counted against the monthly quota. Limited plans count in shard 0 alone, whose row is the gate; unlimited ones
-- spread over the others, since nobody has to wait for them. Deleting runs changes nothing here.
CREATE TABLE run_counters (
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  month        date NOT NULL,
  shard        smallint NOT NULL,
  runs         bigint NOT NULL CHECK (runs >= 0),
  PRIMARY KEY (workspace_id, month, shard)
);

-- What happened to a workspace's runs, by the UTC day they were created on. Writers append a delta, so that no two of
-- them wait for each other; from time to time deltas are folded into their day. A reader adds up both, in one statement.
CREATE TABLE usage_deltas (
  id            bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  workspace_id  text NOT NULL,
  day           date NOT NULL,
  runs          integer NOT NULL DEFAULT 0,
  succeeded     integer NOT NULL DEFAULT 0,
  failed        integer NOT NULL DEFAULT 0,
  cost_micros   bigint NOT NULL DEFAULT 0,
  evaluated     integer NOT NULL DEFAULT 0,
  checks_passed integer NOT NULL DEFAULT 0,
  checks_total  integer NOT NULL DEFAULT 0
);
CREATE INDEX usage_deltas_by_workspace ON usage_deltas (workspace_id);

CREATE TABLE usage_days (
  workspace_id  text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  day           date NOT NULL,
  runs          bigint NOT NULL DEFAULT 0,
  succeeded     bigint NOT NULL DEFAULT 0,
  failed        bigint NOT NULL DEFAULT 0,
  cost_micros   bigint NOT NULL DEFAULT 0,
  evaluated     bigint NOT NULL DEFAULT 0,
  checks_passed bigint NOT NULL DEFAULT 0,
  checks_total  bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, day)
);

CREATE TABLE budgets (
  id              text PRIMARY KEY,
  workspace_id    text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  name            text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  scope           text NOT NULL CHECK (scope IN ('workspace', 'workflow')),
  workflow_id     text REFERENCES workflows ON DELETE CASCADE,
  "window"        text NOT NULL CHECK ("window" IN ('day', 'week', 'month', 'total')),
  limit_micros    bigint NOT NULL CHECK (limit_micros > 0),
  -- What each trigger reserves; null: only settled spend counts.
  estimate_micros bigint CHECK (estimate_micros >= 0),
  -- The window that the two counters are of; a later one begins with zeros.
  window_start    timestamptz NOT NULL,
  spent_micros    bigint NOT NULL DEFAULT 0 CHECK (spent_micros >= 0),
  reserved_micros bigint NOT NULL DEFAULT 0 CHECK (reserved_micros >= 0),
  created_at      timestamptz NOT NULL DEFAULT now(),
  updated_at      timestamptz NOT NULL DEFAULT now(),
  CHECK ((scope = 'workflow') = (workflow_id IS NOT NULL))
);
CREATE INDEX budgets_by_workspace ON budgets (workspace_id, id);
CREATE INDEX budgets_by_workflow ON budgets (workflow_id) WHERE workflow_id IS NOT NULL;

-- The ledger behind the counters: one row per budget, run and hold. The n-th hold of a run is that of its n-th resume.
-- No reference to the run: what it cost stays when it is deleted. Run '' is what was spent before the budget began.
CREATE TABLE budget_holds (
  budget_id    text NOT NULL REFERENCES budgets ON DELETE CASCADE,
  run_id       text NOT NULL,
  n            integer NOT NULL,
  window_start timestamptz NOT NULL,
  -- What the run had cost when the hold was placed; the hold is for what comes on top.
  base_micros  bigint NOT NULL DEFAULT 0,
  -- Reserved at first; null: nothing is reserved, the cost counts once it is settled.
  estimate_micros bigint CHECK (estimate_micros >= 0),
  held_micros  bigint NOT NULL DEFAULT 0 CHECK (held_micros >= 0),
  spent_micros bigint NOT NULL DEFAULT 0 CHECK (spent_micros >= 0),
  status       text NOT NULL DEFAULT 'open' CHECK (status IN ('open', 'settled', 'reaped')),
  opened_at    timestamptz NOT NULL DEFAULT now(),
  closed_at    timestamptz,
  PRIMARY KEY (budget_id, run_id, n),
  CHECK ((status = 'open') = (closed_at IS NULL)),
  CHECK (status = 'open' OR held_micros = 0)
);
CREATE INDEX budget_holds_by_run ON budget_holds (run_id, n);
CREATE INDEX budget_holds_open ON budget_holds (opened_at) WHERE status = 'open';

-- Freed from block budgets by an override: only the run's own cap holds.
ALTER TABLE runs ADD COLUMN budget_exempt boolean NOT NULL DEFAULT false;

/* When the window that `at` falls into began, in UTC; weeks begin on Monday. */
CREATE FUNCTION budget_window_start(kind text, at timestamptz) RETURNS timestamptz
LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN kind = 'total' THEN '-infinity'::timestamptz
            ELSE date_trunc(kind, at AT TIME ZONE 'UTC') AT TIME ZONE 'UTC' END;

/* Ends the statement it is called in, with nothing of it left behind. `reason` is for the caller, `facts` for its text. */
CREATE FUNCTION refuse(reason text, facts json) RETURNS boolean LANGUAGE plpgsql AS $$
BEGIN
  RAISE EXCEPTION '%', reason USING ERRCODE = 'OW001', DETAIL = facts::text;
END $$;

-- What ran before there were counters counts too.
INSERT INTO usage_days (workspace_id, day, runs, succeeded, failed, cost_micros, evaluated, checks_passed, checks_total)
SELECT workspace_id, (created_at AT TIME ZONE 'UTC')::date, count(*), count(*) FILTER (WHERE status = 'success'),
       count(*) FILTER (WHERE status = 'failed'), sum(cost_micros), count(*) FILTER (WHERE (evals ->> 'total')::int > 0),
       coalesce(sum((evals ->> 'passed')::int), 0), coalesce(sum((evals ->> 'total')::int), 0)
FROM runs GROUP BY 1, 2;
INSERT INTO run_counters (workspace_id, month, shard, runs)
SELECT workspace_id, date_trunc('month', created_at AT TIME ZONE 'UTC')::date, 0, count(*) FROM runs GROUP BY 1, 2;
