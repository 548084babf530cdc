-- Agents that use tools: each turn and each call is a step under the agent's step.

ALTER TABLE steps
  ADD COLUMN parent_step_key text,
  -- From 1.
  ADD COLUMN turn integer,
  -- The number of a call in its turn, from 1, and its tool; null for a turn.
  ADD COLUMN call_index integer,
  ADD COLUMN call_tool text;

ALTER TABLE gates
  ADD COLUMN kind text DEFAULT 'human_gate' NOT NULL,
  -- The rest is for kind `tool_call`. The arguments as they were shown, and the digest over them.
  ADD COLUMN tool text,
  ADD COLUMN turn integer,
  ADD COLUMN arguments json,
  ADD COLUMN schema_digest text,
  ADD COLUMN digest text,
  -- Where the approver changed them. The decision is bound to `decided_digest`.
  ADD COLUMN decided_arguments json,
  ADD COLUMN decided_digest text;

ALTER TABLE gates
  ADD CONSTRAINT gates_kind_check CHECK (kind IN ('human_gate', 'tool_call')) NOT VALID,
  ADD CONSTRAINT gates_tool_call_check
    CHECK (kind <> 'tool_call' OR (tool IS NOT NULL AND turn IS NOT NULL AND arguments IS NOT NULL
                                   AND schema_digest IS NOT NULL AND digest IS NOT NULL)) NOT VALID;

-- A call that waits for approval has made no attempt yet.
DROP TRIGGER steps_keep_attempt ON steps;
CREATE TRIGGER steps_keep_attempt AFTER UPDATE ON steps
  FOR EACH ROW WHEN (NEW.attempts > OLD.attempts AND OLD.attempts > 0) EXECUTE FUNCTION keep_attempt();
