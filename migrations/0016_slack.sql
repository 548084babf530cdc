-- What the service said about a sign-in: the team whose account it is (Slack), and the scopes that it has granted. Null: nothing.
ALTER TABLE connection_tokens
  ADD COLUMN team_id text,
  ADD COLUMN granted_scopes text[];

-- The Slack of a workspace: where it asks for decisions, and the secret with which Slack signs what people click there. It ends with
-- the tokens of its connection.
CREATE TABLE workspace_slack (
  workspace_id          text PRIMARY KEY REFERENCES workspaces (id) ON DELETE CASCADE,
  connection_id         text NOT NULL,
  -- The account of the workspace.
  holder                text NOT NULL DEFAULT '' CHECK (holder = ''),
  -- As Slack named it when someone signed in. The requests of a team count for one workspace.
  team_id               text NOT NULL CONSTRAINT workspace_slack_team UNIQUE,
  channel               text NOT NULL,
  sealed_signing_secret text NOT NULL,
  -- Why Slack refused the last message. Null: it accepted it.
  problem               text,
  updated_at            timestamptz NOT NULL DEFAULT now(),
  FOREIGN KEY (connection_id, holder) REFERENCES connection_tokens (connection_id, holder) ON DELETE CASCADE
);
CREATE INDEX workspace_slack_by_connection ON workspace_slack (connection_id, holder);

-- Another channel for the gates of a workflow. Null: that of the workspace.
ALTER TABLE workflow_alerts ADD COLUMN slack_channel text;

-- Set when a member decided in Slack.
ALTER TABLE gates ADD COLUMN decided_by_slack boolean;

-- The message about one opening of a gate. It shows the gate until it is final.
CREATE TABLE slack_messages (
  id           text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  run_id       text NOT NULL,
  step_key     text NOT NULL,
  round        integer NOT NULL,
  -- When the gate opened. A gate that opens again has another message.
  opened_at    timestamptz NOT NULL,
  team_id      text NOT NULL,
  -- Where it is, once Slack has accepted it.
  channel      text,
  ts           text,
  -- Set before it is sent. Without `ts`, it is not known whether Slack has it, and it is not sent again.
  posting_at   timestamptz,
  -- SHA-256 of what it shows.
  shown        bytea CHECK (length(shown) = 32),
  is_final     boolean NOT NULL DEFAULT false,
  -- Who writes it now. Others wait, so that an older state never replaces a newer one.
  leased_until timestamptz,
  UNIQUE (run_id, step_key, round, opened_at),
  FOREIGN KEY (run_id, step_key, round) REFERENCES gates (run_id, step_key, round) ON DELETE CASCADE,
  CONSTRAINT slack_messages_place CHECK (ts IS NULL OR channel IS NOT NULL)
);
CREATE INDEX slack_messages_by_workspace ON slack_messages (workspace_id, channel, ts);

-- The signed requests of the last minutes, so that each counts once.
CREATE TABLE slack_requests (
  signature    bytea PRIMARY KEY CHECK (length(signature) = 32),
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  received_at  timestamptz NOT NULL DEFAULT now()
);
CREATE INDEX slack_requests_by_age ON slack_requests (received_at);
CREATE INDEX slack_requests_by_workspace ON slack_requests (workspace_id);

-- A message follows its gate, which people, deadlines, resumes and ends of runs change.
CREATE FUNCTION update_slack_message() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO outbox (run_id, kind, payload)
  SELECT m.run_id, 'alert', json_build_object('event', 'gate', 'workspace_id', m.workspace_id, 'run_id', m.run_id,
           'workflow_name', w.name, 'message_id', m.id, 'reminds', false)
  FROM slack_messages m JOIN runs r ON r.id = m.run_id JOIN workflows w ON w.id = r.workflow_id
  WHERE m.run_id = NEW.run_id AND m.step_key = NEW.step_key AND m.round = NEW.round AND NOT m.is_final;
  RETURN NULL;
END
$$;
CREATE TRIGGER gates_in_slack AFTER UPDATE ON gates FOR EACH ROW
  WHEN (OLD.status <> NEW.status OR OLD.opened_at <> NEW.opened_at OR OLD.digest IS DISTINCT FROM NEW.digest
        OR OLD.decisions::text IS DISTINCT FROM NEW.decisions::text)
  EXECUTE FUNCTION update_slack_message();
