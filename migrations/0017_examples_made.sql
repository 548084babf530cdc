-- What of the examples a start has made, so that later ones do not make again what retention or people have removed.
-- An entry outlives the workflow or run it names, hence no reference.
CREATE TABLE examples_made (
  workspace_id text NOT NULL REFERENCES workspaces(id) ON DELETE CASCADE,
  key text NOT NULL,
  id text NOT NULL,
  made_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, key)
);
