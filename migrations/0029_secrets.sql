-- Values that workflows send to other services. A value is sealed, and opens only for its workspace and name.
CREATE TABLE secrets (
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  name text NOT NULL CHECK (name ~ '^[A-Z][A-Z0-9_]{0,63}$'),
  sealed_value text NOT NULL,
  -- In their canonical form: lower case, without a default port.
  allowed_hosts text[] NOT NULL CHECK (cardinality(allowed_hosts) BETWEEN 1 AND 20),
  description text NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  -- When a call last needed it, to the minute.
  last_used_at timestamptz,
  PRIMARY KEY (workspace_id, name)
);
