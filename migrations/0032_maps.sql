-- Nodes of the kind `map`.
ALTER TABLE steps
  DROP CONSTRAINT steps_kind_check,
  ADD CONSTRAINT steps_kind_check
    CHECK (kind IN ('agent', 'tool', 'condition', 'loop', 'map', 'human_gate', 'merge')) NOT VALID;
