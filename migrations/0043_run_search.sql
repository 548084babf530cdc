-- The filters of the list of runs.

-- Rewritten when the status changes, which already writes every index of the row.
CREATE INDEX runs_by_status ON runs (workspace_id, status, created_at DESC, id DESC);
-- Written once, when a run fails.
CREATE INDEX runs_by_failure ON runs (workspace_id, (failure ->> 'kind'), created_at DESC, id DESC)
  WHERE failure IS NOT NULL;
-- The cost of an open run changes with each step. A summary of ranges of pages costs these updates next to nothing and
-- leaves them in place (HOT), which a b-tree would not. It finds rare values; common ones are found soon in the order of
-- the list.
CREATE INDEX runs_ranges ON runs USING brin
  (cost_micros, active_ms, workflow_version, trigger text_bloom_ops, workspace_id text_bloom_ops)
  WITH (pages_per_range = 32, autosummarize = on);

-- The words of a run: its id, input, output and error. Each has the key of the workspace and the day before it, so that
-- a search reads the entries of one workspace only, and stops at the day that fills its page.
CREATE TABLE run_words (
  run_id text PRIMARY KEY REFERENCES runs (id) ON DELETE CASCADE,
  words  tsvector NOT NULL
);
CREATE INDEX run_words_of ON run_words USING gin (words);

-- Runs whose words have changed since they were read. No reference to the run: it may be deleted before.
CREATE TABLE run_words_due (
  id     bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  run_id text NOT NULL
);

CREATE FUNCTION run_words_key(workspace text, created timestamptz) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN left(md5(workspace || to_char(created AT TIME ZONE 'UTC', 'YYYYMMDD')), 10);

-- A trigger, so that no statement that starts or ends a run can forget it.
CREATE FUNCTION run_words_changed() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO run_words_due (run_id) VALUES (new.id);
  RETURN NULL;
END $$;
CREATE TRIGGER runs_words_new AFTER INSERT ON runs FOR EACH ROW EXECUTE FUNCTION run_words_changed();
CREATE TRIGGER runs_words_ended AFTER UPDATE OF status ON runs FOR EACH ROW
  WHEN (new.finished_at IS NOT NULL AND old.finished_at IS DISTINCT FROM new.finished_at)
  EXECUTE FUNCTION run_words_changed();

-- Newest first, since people look for these first.
INSERT INTO run_words_due (run_id) SELECT id FROM runs ORDER BY created_at DESC;
