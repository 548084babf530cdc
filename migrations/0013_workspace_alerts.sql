-- Where a workspace gets its alerts, and for what. A workspace without a row has none of its own; for the oldest one, the settings
-- of the service are the default.
CREATE TABLE workspace_alerts (
  workspace_id        text PRIMARY KEY REFERENCES workspaces (id) ON DELETE CASCADE,
  -- The URL of an incoming webhook is a secret. People see its origin.
  chat_webhook_sealed text,
  chat_webhook_origin text,
  email               text[] NOT NULL DEFAULT '{}',
  events              text[] NOT NULL,
  updated_at          timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT workspace_alerts_chat CHECK ((chat_webhook_sealed IS NULL) = (chat_webhook_origin IS NULL))
);

-- What differs for the runs of a workflow. Null: as for the workspace.
CREATE TABLE workflow_alerts (
  workflow_id         text PRIMARY KEY REFERENCES workflows (id) ON DELETE CASCADE,
  workspace_id        text NOT NULL REFERENCES workspace_alerts (workspace_id) ON DELETE CASCADE,
  chat_webhook_sealed text,
  chat_webhook_origin text,
  email               text[],
  events              text[],
  CONSTRAINT workflow_alerts_chat CHECK ((chat_webhook_sealed IS NULL) = (chat_webhook_origin IS NULL))
);
CREATE INDEX workflow_alerts_by_workspace ON workflow_alerts (workspace_id);
