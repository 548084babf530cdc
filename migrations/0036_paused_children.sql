-- Whether the stream of the run has said that the child of the step is paused.
ALTER TABLE steps ADD COLUMN child_paused boolean NOT NULL DEFAULT false;

-- A child that continues is looked at by the step that waits for it, as one that pauses or ends. Several statements let a
-- run continue; few runs have a parent.
CREATE FUNCTION notice_continued_child() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO outbox (run_id, kind, payload)
  VALUES (NEW.parent_run_id, 'child', json_build_object('step_key', NEW.parent_step_key));
  RETURN NULL;
END $$;

CREATE TRIGGER runs_continued_child AFTER UPDATE OF status ON runs FOR EACH ROW
  WHEN (OLD.status = 'paused' AND NEW.status = 'running' AND NEW.parent_run_id IS NOT NULL)
  EXECUTE FUNCTION notice_continued_child();
