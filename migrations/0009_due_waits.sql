-- When the execution of a waiting step is signalled to read the row: when its time is up or an alert is due, and again later if it
-- did not. Null: there is nothing to read.
ALTER TABLE run_waits ADD COLUMN wake_at timestamptz;
UPDATE run_waits SET wake_at = least(due_at, remind_at) WHERE status = 'open';
CREATE INDEX run_waits_wake ON run_waits (wake_at, workspace_id) WHERE status <> 'cancelled' AND wake_at IS NOT NULL;

-- An execution that reads an event which came has nothing to forget any more.
DROP TRIGGER run_waits_ended ON run_waits;
CREATE TRIGGER run_waits_ended AFTER UPDATE OF status ON run_waits
  FOR EACH ROW WHEN (OLD.status = 'open' AND NEW.status <> 'open' AND NEW.kind = 'event') EXECUTE FUNCTION forget_awaited_events();
