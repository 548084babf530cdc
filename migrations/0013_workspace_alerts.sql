-- Where a workspace gets its alerts, and for what. A workspace without a row has none of its own; for the oldest one, the settings
-- of the service are the default.
CREATE TABLE workspace_alerts (
  workspace_id        text PRIMARY KEY REFERENCES workspaces (id) ON DELETE CASCADE,
  -- The URL of an incoming webhook is a secret. People see its origin.
  chat_webhook_sealed text,
  chat_webhook_origin text,
  email               text[] NOT NULL DEFAULT '{}',
  events              text[] NOT NULL,
  -- Whether members get links with which they can decide gates without signing in. Turning it off ends the links of this
  -- generation.
  decide_by_link      boolean NOT NULL DEFAULT false,
  link_generation     integer NOT NULL DEFAULT 0,
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

-- Set when a member decided with the link of an email, without signing in.
ALTER TABLE gates ADD COLUMN decided_by_link boolean;

-- The links that were mailed to members. The token is only in the email. A link is kept until its gate is deleted, so that its
-- page can say why it has ended. Members have no reference, for the same reason.
CREATE TABLE decide_links (
  id           text PRIMARY KEY,
  token_hash   bytea NOT NULL UNIQUE CHECK (length(token_hash) = 32),
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  -- The execution that sends the email, and its recipient: another attempt finds its row.
  alert        text NOT NULL,
  member_id    text NOT NULL,
  run_id       text NOT NULL,
  step_key     text NOT NULL,
  round        integer NOT NULL,
  -- When the gate opened. A gate that opens again has other links.
  opened_at    timestamptz NOT NULL,
  -- What the gate showed then.
  digest       text,
  generation   integer NOT NULL,
  expires_at   timestamptz NOT NULL,
  mailed_at    timestamptz,
  used_at      timestamptz,
  approved     boolean,
  UNIQUE (alert, member_id),
  FOREIGN KEY (run_id, step_key, round) REFERENCES gates (run_id, step_key, round) ON DELETE CASCADE,
  CONSTRAINT decide_links_used CHECK ((used_at IS NULL) = (approved IS NULL))
);
CREATE INDEX decide_links_by_gate ON decide_links (run_id, step_key, round);
CREATE INDEX decide_links_by_workspace ON decide_links (workspace_id);
