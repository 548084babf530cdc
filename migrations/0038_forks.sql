-- Runs that start from another one: run again, or forked at a step, with copies of the steps that were finished.
ALTER TABLE runs ADD COLUMN forked_from text;
-- Null for a run that executes everything again.
ALTER TABLE runs ADD COLUMN forked_from_step text;
-- What is laid over the state at steps, by step key.
ALTER TABLE runs ADD COLUMN laid json;
-- The graph of a run of a draft; null for the graph of its version.
ALTER TABLE runs ADD COLUMN graph json;
CREATE INDEX runs_of_drafts ON runs (workflow_id) WHERE graph IS NOT NULL;

ALTER TABLE runs
  ADD CONSTRAINT runs_forked_from_fkey FOREIGN KEY (forked_from) REFERENCES runs(id) ON DELETE SET NULL NOT VALID;
CREATE INDEX runs_by_source ON runs (forked_from, created_at DESC, id DESC) WHERE forked_from IS NOT NULL;

-- The run that executed the step. It may have been deleted since.
ALTER TABLE steps ADD COLUMN reused_from text;
