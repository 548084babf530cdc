-- Who made the decision at a gate: a person (a member or a key), the deadline of the gate, or the request of a rehearsal.
-- `reused_from`: the run in which it was made, when a fork or a rehearsal took it over. Such a decision is history.
ALTER TABLE gates
  ADD COLUMN decided_by_kind text,
  ADD COLUMN reused_from text;
ALTER TABLE gates
  ADD CONSTRAINT gates_decided_by_kind_check CHECK (decided_by_kind IN ('member', 'deadline', 'request')) NOT VALID;

UPDATE gates g SET
  decided_by_kind = CASE WHEN g.timed_out IS NOT NULL THEN 'deadline'
                         WHEN g.decided_by IS NULL AND g.decided_by_name = 'the request' THEN 'request'
                         ELSE 'member' END,
  reused_from = (SELECT s.reused_from FROM steps s WHERE s.run_id = g.run_id AND s.step_key = g.step_key)
WHERE g.status IN ('approved', 'rejected');
