-- The JSON Schema of a version's input; without one, any object is accepted.
ALTER TABLE workflow_versions ADD COLUMN input_schema json;
ALTER TABLE templates ADD COLUMN input_schema json;

-- The names by which models call workflows. A name stays with its workflow until that is renamed or deleted, so that no
-- other workflow takes it meanwhile.
CREATE TABLE workflow_tools (
  workflow_id text PRIMARY KEY REFERENCES workflows (id) ON DELETE CASCADE,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  -- From the workflow's name; another one replaces the row.
  slug text NOT NULL,
  name text NOT NULL,
  CONSTRAINT workflow_tools_one_per_name UNIQUE (workspace_id, name)
);
