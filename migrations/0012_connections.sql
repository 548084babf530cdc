-- Connections to other services by OAuth: what is needed to get access tokens, and the tokens. Secrets of clients and tokens are
-- sealed, each bound to its row.
CREATE TABLE connections (
  id text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  name text NOT NULL CHECK (name ~ '^[A-Z][A-Z0-9_]{0,63}$'),
  preset text,
  grant_type text NOT NULL CHECK (grant_type IN ('authorization_code', 'client_credentials')),
  -- Whose account it is: one for the workspace, or that of each member.
  owner text NOT NULL CHECK (owner IN ('workspace', 'member')),
  issuer text,
  -- Whether the issuer names itself in its responses (RFC 9207). Then all such connections share one callback.
  names_issuer boolean NOT NULL DEFAULT false,
  authorization_url text,
  token_url text NOT NULL,
  client_id text NOT NULL,
  sealed_client_secret text,
  client_auth text NOT NULL CHECK (client_auth IN ('basic', 'post', 'none')),
  scopes text[] NOT NULL,
  authorization_params json NOT NULL,
  allowed_hosts text[] NOT NULL CHECK (cardinality(allowed_hosts) BETWEEN 1 AND 20),
  -- Counts the changes after which earlier sign-ins and tokens are no longer valid.
  revision integer NOT NULL DEFAULT 1,
  created_at timestamptz NOT NULL DEFAULT now(),
  updated_at timestamptz NOT NULL DEFAULT now(),
  last_used_at timestamptz,
  CONSTRAINT connections_name UNIQUE (workspace_id, name),
  CONSTRAINT connections_client_secret CHECK ((sealed_client_secret IS NULL) = (client_auth = 'none')),
  CONSTRAINT connections_of_members CHECK (grant_type = 'authorization_code' OR owner = 'workspace'),
  CONSTRAINT connections_authorize CHECK ((grant_type = 'authorization_code') = (authorization_url IS NOT NULL))
);

-- The tokens of an account: that of the workspace, or of the member who signed in. The generation counts the access tokens. Who has
-- locked the row decides whether to refresh them.
CREATE TABLE connection_tokens (
  connection_id text NOT NULL REFERENCES connections ON DELETE CASCADE,
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  member_id text REFERENCES members ON DELETE CASCADE,
  -- That of the connection when they were issued. Tokens of an earlier revision are void.
  revision integer NOT NULL,
  -- The member's id; the empty text for the workspace.
  holder text GENERATED ALWAYS AS (coalesce(member_id, '')) STORED,
  -- Who signed in. Null: a program's own token, or the member was removed.
  signed_in_by text REFERENCES members ON DELETE SET NULL,
  generation bigint NOT NULL DEFAULT 0,
  -- Null before the first token, and after the service has refused to refresh it.
  sealed_access text,
  sealed_refresh text,
  -- Null: it does not expire, as far as is known.
  expires_at timestamptz,
  refresh_at timestamptz,
  needs_sign_in boolean NOT NULL DEFAULT false,
  created_at timestamptz NOT NULL DEFAULT now(),
  PRIMARY KEY (connection_id, holder)
);
CREATE INDEX connection_tokens_of_member ON connection_tokens (member_id) WHERE member_id IS NOT NULL;
CREATE INDEX connection_tokens_signed_in ON connection_tokens (signed_in_by) WHERE signed_in_by IS NOT NULL;

-- Sign-ins that have begun. The callback takes the row, so that each counts once.
CREATE TABLE connection_sign_ins (
  id text PRIMARY KEY,
  workspace_id text NOT NULL REFERENCES workspaces ON DELETE CASCADE,
  connection_id text NOT NULL REFERENCES connections ON DELETE CASCADE,
  revision integer NOT NULL,
  member_id text NOT NULL REFERENCES members ON DELETE CASCADE,
  -- SHA-256 of the state in the URL, and of the value in the browser's cookie.
  state_hash bytea NOT NULL CHECK (length(state_hash) = 32),
  cookie_hash bytea NOT NULL CHECK (length(cookie_hash) = 32),
  sealed_verifier text NOT NULL,
  nonce text NOT NULL,
  redirect_uri text NOT NULL,
  expires_at timestamptz NOT NULL
);
CREATE INDEX connection_sign_ins_of_member ON connection_sign_ins (member_id, expires_at);
CREATE INDEX connection_sign_ins_of_connection ON connection_sign_ins (connection_id);
CREATE INDEX connection_sign_ins_expired ON connection_sign_ins (expires_at);

-- Steps can fail because someone has to sign in.
ALTER TABLE steps
  DROP CONSTRAINT steps_error_kind_check,
  ADD CONSTRAINT steps_error_kind_check
    CHECK (error_kind IN ('node', 'timeout', 'policy', 'rejected', 'child', 'connection')) NOT VALID;

-- Whether a further trigger, with an input of its own, has joined the run under a debounce: then no one member has started it.
ALTER TABLE runs ADD COLUMN joined boolean;
CREATE FUNCTION note_joined_run() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  UPDATE runs SET joined = true WHERE id = NEW.run_id AND joined IS NULL;
  RETURN NULL;
END
$$;
CREATE TRIGGER run_places_joined AFTER UPDATE OF due_at ON run_places
  FOR EACH ROW WHEN (OLD.state = 'debounced' AND NEW.state = 'debounced') EXECUTE FUNCTION note_joined_run();
