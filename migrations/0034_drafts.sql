-- Work on a workflow that nothing runs yet. Publishing makes it the current version and removes the row.
CREATE TABLE workflow_drafts (
  workflow_id   text PRIMARY KEY REFERENCES workflows (id) ON DELETE CASCADE,
  workspace_id  text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  -- The version that the work began at. The draft can be published while that is the current one.
  base_version  integer NOT NULL CHECK (base_version >= 1),
  graph         json NOT NULL,
  input_schema  json,
  -- Counts the saves that changed something.
  revision      integer NOT NULL DEFAULT 1 CHECK (revision >= 1),
  created_at    timestamptz NOT NULL DEFAULT now(),
  -- Who saved it last. The name is kept for keys without a member, and for members who leave.
  saved_by      text,
  saved_by_name text,
  saved_at      timestamptz NOT NULL DEFAULT now()
);

-- The name of the author, as it was then, and what they said about the version.
ALTER TABLE workflow_versions ADD COLUMN created_by_name text;
ALTER TABLE workflow_versions ADD COLUMN note text;
