-- Who may come in, and as whom.

ALTER TABLE members
  ADD COLUMN password_hash text,
  -- Session tokens carry it. A new password raises it, which voids every token from before.
  ADD COLUMN session_epoch integer NOT NULL DEFAULT 1,
  -- Readable, not hashed: listings show it for as long as the member is invited.
  ADD COLUMN invite_code text UNIQUE,
  -- When the invitation is to be mailed (again); null when there is nothing to mail.
  ADD COLUMN invite_mail_due_at timestamptz,
  ADD COLUMN invite_mail_attempts integer NOT NULL DEFAULT 0,
  ADD CONSTRAINT members_name_length CHECK (length(name) BETWEEN 1 AND 200),
  ADD CONSTRAINT members_email_length CHECK (length(email) BETWEEN 3 AND 320),
  ADD CONSTRAINT members_invite CHECK ((status = 'invited') = (invite_code IS NOT NULL)),
  ADD CONSTRAINT members_invited_has_no_password CHECK (status <> 'invited' OR password_hash IS NULL);
CREATE INDEX members_by_workspace ON members (workspace_id, created_at, id);
CREATE INDEX members_to_mail ON members (invite_mail_due_at) WHERE invite_mail_due_at IS NOT NULL;

CREATE TABLE api_keys (
  id           text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  name         text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  -- The beginning of the secret, to tell keys apart by.
  prefix       text NOT NULL,
  secret_hash  bytea NOT NULL UNIQUE CHECK (length(secret_hash) = 32),
  -- Of a linked key: what its member had when it was made; what counts is what the member has now.
  role         text NOT NULL CHECK (role IN ('admin', 'editor', 'viewer')),
  -- No reference: the key stays in the list, revoked, when its member is removed.
  member_id    text,
  created_by   text,
  created_at   timestamptz NOT NULL DEFAULT now(),
  revoked_at   timestamptz,
  last_used_at timestamptz
);
CREATE INDEX api_keys_by_workspace ON api_keys (workspace_id, created_at DESC, id DESC);
CREATE INDEX api_keys_by_member ON api_keys (member_id) WHERE member_id IS NOT NULL;

-- Failed sign-ins per account and per address in the current window. Losing them in a crash of the server only lets
-- somebody try again.
CREATE UNLOGGED TABLE sign_in_failures (
  subject        text PRIMARY KEY,
  failures       integer NOT NULL CHECK (failures >= 0),
  window_ends_at timestamptz NOT NULL
);
CREATE INDEX sign_in_failures_ended ON sign_in_failures (window_ends_at);

-- What each member did per UTC day. No reference to the member: the last of it may arrive when the member is gone.
CREATE TABLE member_days (
  workspace_id      text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  member_id         text NOT NULL,
  day               date NOT NULL,
  -- Audit entries of the member, and how many of them were of each kind; counted when they are sealed.
  actions           integer NOT NULL DEFAULT 0,
  runs              integer NOT NULL DEFAULT 0,
  approvals         integer NOT NULL DEFAULT 0,
  rejections        integer NOT NULL DEFAULT 0,
  workflows_created integer NOT NULL DEFAULT 0,
  -- Cost of the runs that the member triggered on that day.
  cost_micros       bigint NOT NULL DEFAULT 0,
  PRIMARY KEY (workspace_id, member_id, day)
);
-- Whose run the cost is of; null for runs that no member triggered, and for what is not cost.
ALTER TABLE usage_deltas ADD COLUMN member_id text;
CREATE INDEX audit_log_by_actor ON audit_log (workspace_id, actor_id, seq DESC) WHERE actor_id IS NOT NULL;

-- What was done before it was counted counts too. Entries that still wait for their seal are counted with it.
INSERT INTO member_days (workspace_id, member_id, day, actions, runs, approvals, rejections, workflows_created)
SELECT a.workspace_id, a.actor_id, (a.created_at AT TIME ZONE 'UTC')::date, count(*),
       count(*) FILTER (WHERE a.target_type = 'workflow' AND a.action = 'run'),
       count(*) FILTER (WHERE a.target_type = 'run' AND a.action = 'approve'),
       count(*) FILTER (WHERE a.target_type = 'run' AND a.action = 'reject'),
       count(*) FILTER (WHERE a.target_type = 'workflow' AND a.action = 'create')
FROM audit_log a
JOIN workspaces w ON w.id = a.workspace_id
WHERE a.actor_id IS NOT NULL
  AND NOT EXISTS (SELECT FROM audit_unsealed u WHERE u.workspace_id = a.workspace_id AND u.seq = a.seq)
GROUP BY 1, 2, 3;
INSERT INTO member_days AS d (workspace_id, member_id, day, cost_micros)
SELECT workspace_id, created_by, (created_at AT TIME ZONE 'UTC')::date, sum(cost_micros)
FROM runs WHERE created_by IS NOT NULL GROUP BY 1, 2, 3
ON CONFLICT (workspace_id, member_id, day) DO UPDATE SET cost_micros = excluded.cost_micros;
