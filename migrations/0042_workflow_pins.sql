-- Outputs of nodes that a member keeps from past runs, for tests of single nodes. The output is a copy: the run may be
-- removed by retention.
CREATE TABLE workflow_pins (
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  workflow_id  text NOT NULL REFERENCES workflows (id) ON DELETE CASCADE,
  -- Null: of the credentials without a member.
  member_id    text REFERENCES members (id) ON DELETE CASCADE,
  node_id      text NOT NULL,
  run_id       text NOT NULL,
  step_key     text NOT NULL,
  output       json NOT NULL,
  pinned_at    timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT workflow_pins_one_per_node UNIQUE NULLS NOT DISTINCT (workflow_id, member_id, node_id)
);
CREATE INDEX workflow_pins_by_member ON workflow_pins (member_id);
