-- Answers of requests with an Idempotency-Key, for 24 hours. A row is written in the transaction of what the request did, so it
-- exists exactly if that was done. Runs have claims of their own, in idempotency_keys.
CREATE TABLE idempotent_answers (
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  -- SHA-256 of the workspace, the credential, the operation, its path and the key, as JSON.
  id bytea NOT NULL,
  -- SHA-256 of the canonical JSON of the query and the body.
  request bytea NOT NULL,
  -- JSON, or sealed JSON: it can contain secrets.
  answer text NOT NULL,
  sealed boolean NOT NULL,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (workspace_id, id)
);
CREATE INDEX idempotent_answers_by_age ON idempotent_answers (workspace_id, created_at);
CREATE INDEX idempotent_answers_sealed ON idempotent_answers (id) WHERE sealed;
