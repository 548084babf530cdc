-- Signatures of events that have come, for as long as they could be sent again: each is good for one run. Kept as SHA-256.
CREATE TABLE webhook_signatures (
  workflow_id text NOT NULL REFERENCES workflows ON DELETE CASCADE,
  signature   bytea NOT NULL,
  run_id      text NOT NULL,
  signed_at   timestamptz NOT NULL,
  PRIMARY KEY (workflow_id, signature)
);
CREATE INDEX webhook_signatures_by_age ON webhook_signatures (workflow_id, signed_at);
