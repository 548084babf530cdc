-- What each answer to a gate sets in motion, as approvers see it; `digest` covers it. For an open gate, `situation` is the
-- part of the run that it follows from, so that the input of an approver can be taken into account.
-- `targets`: the custom tools and workflows that it can call, as they were then.
-- `items`: digests of items that are not listed one by one.
-- Since `shown_at`, no decision was made in the run that it does not contain.
ALTER TABLE gates ADD COLUMN consequences json, ADD COLUMN situation json, ADD COLUMN targets json, ADD COLUMN items json, ADD COLUMN shown_at timestamptz;

-- What is decided, in one line. NULL: the label.
ALTER TABLE gates ADD COLUMN title text;

-- For a gate with `recheck`: the reads that it depends on, and the last time that they were repeated.
ALTER TABLE gates ADD COLUMN reads json, ADD COLUMN recheck jsonb;

-- What an effect was shown with when a gate before it was decided. A step that would send anything else sends nothing.
CREATE TABLE gate_effects (
  run_id     text NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
  node_id    text NOT NULL,
  -- With `*` for iterations and items that were not known.
  step_key   text NOT NULL,
  gate_key   text NOT NULL,
  round      integer NOT NULL,
  shown      json NOT NULL,
  -- For items that are not listed one by one: 16 bytes of the digest of each, one after the other.
  items      bytea STORAGE EXTERNAL,
  decided_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (run_id, node_id, step_key, gate_key, round)
);

ALTER TABLE governance_events DROP CONSTRAINT governance_events_type_check,
  ADD CONSTRAINT governance_events_type_check CHECK (type IN ('policy_denied', 'tool_argument_blocked', 'data_redacted',
    'budget_blocked', 'model_fallback_blocked', 'approval_override_granted', 'approval_mismatch')) NOT VALID,
  DROP CONSTRAINT governance_events_policy_check,
  ADD CONSTRAINT governance_events_policy_check CHECK (policy IN ('tool_permission', 'tool_argument', 'dlp',
    'model_allowlist', 'budget', 'fallback', 'approval')) NOT VALID;

-- The SHA-256 of the entry, which is part of the seal's hash: so a proof can include a seal without the entry. NULL: sealed
-- by 1.0.0, whose seals have the hash of the entry itself.
ALTER TABLE audit_seals ADD COLUMN entry_digest bytea CHECK (length(entry_digest) = 32);

-- A step of a tool or a workflow that needs approval is asked like a call of an agent, without a turn.
ALTER TABLE gates DROP CONSTRAINT gates_tool_call_check,
  ADD CONSTRAINT gates_tool_call_check CHECK (kind <> 'tool_call' OR (tool IS NOT NULL AND arguments IS NOT NULL
    AND schema_digest IS NOT NULL AND digest IS NOT NULL)) NOT VALID;

-- Whether a person has confirmed that calls of the tool change nothing.
ALTER TABLE custom_tools ADD COLUMN read_only boolean NOT NULL DEFAULT false;

-- The revision of the policies when the event was written. NULL: by 1.0.0.
ALTER TABLE governance_events ADD COLUMN revision integer;
CREATE FUNCTION note_policy_revision() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  NEW.revision := policy_revision_now(NEW.workspace_id);
  RETURN NEW;
END $$;
CREATE TRIGGER governance_events_revision BEFORE INSERT ON governance_events
  FOR EACH ROW EXECUTE FUNCTION note_policy_revision();

-- What an open gate shows is out of date once another gate of its run is decided.
CREATE INDEX gates_decided ON gates (run_id, decided_at) WHERE decided_at IS NOT NULL;
CREATE INDEX gates_decided_at ON gates (decided_at) WHERE status IN ('approved', 'rejected') AND reused_from IS NULL;

-- The text of models' answers in progress, so that a stream that opens late has all of it. A worker deletes it when the
-- answer ends. Losing it in a crash of the server only delays what a stream shows. No reference to runs: each piece would
-- lock its run.
CREATE UNLOGGED TABLE answer_pieces (
  run_id     text NOT NULL,
  -- The step of the agent.
  step_key   text NOT NULL,
  turn       integer NOT NULL,
  -- Another one each time that the answer starts again.
  answer     text NOT NULL,
  -- The length of the text before the piece, in UTF-16 code units.
  place      integer NOT NULL CHECK (place >= 0),
  text       text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
  PRIMARY KEY (run_id, step_key, turn, answer, place)
);
CREATE INDEX answer_pieces_created ON answer_pieces (created_at);

-- A run counts its steps without a price, of which most runs have none.
CREATE INDEX steps_unpriced ON steps (run_id) WHERE unpriced;

-- The place of a step's result among those of its run, in the order in which they entered the state. NULL: the result of 1.0.0, or
-- of another run, or it never did.
ALTER TABLE steps ADD COLUMN handled integer;
