-- Events that cancel a run (`cancel_on` in the limits of its workflow), as they were when it was triggered. `state`: what their
-- matches read of its input. `entries`: {name, match, path, value}, see `awaited_events`. NULL: there are none.
ALTER TABLE runs ADD COLUMN cancel_on json;

-- An open run also awaits the events that cancel it. Then `step_key` is null, and the run's `cancel_on` has the state.
ALTER TABLE awaited_events DROP CONSTRAINT awaited_by_one,
  ADD CONSTRAINT awaited_by_one CHECK (num_nonnulls(run_id, trigger_id) = 1 AND (step_key IS NULL OR run_id IS NOT NULL)),
  ADD CONSTRAINT awaited_events_run_id_fkey FOREIGN KEY (run_id) REFERENCES runs (id) ON DELETE CASCADE;

-- Until the commit, no event of these names is stored. Their rows are there since the limits were set.
CREATE FUNCTION share_event_names(workspace text, cancel_on json) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  PERFORM FROM event_names n
  WHERE n.workspace_id = workspace AND n.name IN (SELECT e ->> 'name' FROM json_array_elements(cancel_on -> 'entries') AS e)
  ORDER BY n.name FOR SHARE;
END $$;

-- A run awaits these events while it is open: events after its admission, and again those after a resume. The locks order that
-- before or after each event. An admission has them already.
CREATE FUNCTION note_cancel_events() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  IF NEW.status IN ('success', 'failed') THEN
    DELETE FROM awaited_events a WHERE a.run_id = NEW.id AND a.step_key IS NULL;
    RETURN NULL;
  END IF;
  PERFORM share_event_names(NEW.workspace_id, NEW.cancel_on);
  INSERT INTO awaited_events (run_id, place, workspace_id, name, path, value, match, after_seq)
  SELECT NEW.id, e.place, NEW.workspace_id, e.entry ->> 'name', e.entry ->> 'path', e.entry ->> 'value', e.entry ->> 'match', n.seq
  FROM json_array_elements(NEW.cancel_on -> 'entries') WITH ORDINALITY AS e (entry, place)
  JOIN event_names n ON n.workspace_id = NEW.workspace_id AND n.name = e.entry ->> 'name';
  RETURN NULL;
END $$;
CREATE TRIGGER runs_cancel_events AFTER INSERT ON runs
  FOR EACH ROW WHEN (NEW.cancel_on IS NOT NULL) EXECUTE FUNCTION note_cancel_events();
CREATE TRIGGER runs_cancel_events_again AFTER UPDATE OF status ON runs
  FOR EACH ROW WHEN (NEW.cancel_on IS NOT NULL
                     AND (OLD.status IN ('success', 'failed')) <> (NEW.status IN ('success', 'failed')))
  EXECUTE FUNCTION note_cancel_events();

-- Runs that an event has matched, in this resume of the run (`epoch`), or why the match failed: for an event and a workflow, the
-- first. Without both `refusal` and `cancelled_at`, the cancel is due. The row of a run that has ended otherwise is deleted.
CREATE TABLE event_cancels (
  event_id     text NOT NULL REFERENCES events (id) ON DELETE CASCADE,
  run_id       text NOT NULL,
  workspace_id text NOT NULL,
  workflow_id  text NOT NULL,
  epoch        integer NOT NULL,
  refusal      text,
  cancelled_at timestamptz,
  leased_until timestamptz,
  created_at   timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (event_id, run_id)
);
CREATE UNIQUE INDEX event_cancels_refused_once ON event_cancels (event_id, workflow_id) WHERE refusal IS NOT NULL;
CREATE INDEX event_cancels_refused ON event_cancels (workflow_id, created_at DESC) WHERE refusal IS NOT NULL;
CREATE INDEX event_cancels_due ON event_cancels (created_at) WHERE cancelled_at IS NULL AND refusal IS NULL;
CREATE INDEX event_cancels_due_of_run ON event_cancels (run_id) WHERE cancelled_at IS NULL AND refusal IS NULL;
