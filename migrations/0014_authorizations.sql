-- A key that starts and reads but decides nothing: no gates, and nothing that takes a gate away.
ALTER TABLE api_keys ADD COLUMN decide boolean NOT NULL DEFAULT true;

-- Clients that registered themselves for `/api/mcp`. They belong to no workspace: anyone can register one, and it gets access only
-- when a member authorizes it.
CREATE TABLE oauth_clients (
  id              text PRIMARY KEY,
  -- As the client calls itself: no one has checked it.
  name            text NOT NULL CHECK (length(name) BETWEEN 1 AND 200),
  redirect_uris   text[] NOT NULL CHECK (cardinality(redirect_uris) BETWEEN 1 AND 10),
  -- The network that registered it, as it counts for the limit of unused clients.
  registered_from text NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  -- When a member last authorized it; null: never, so it ends after a day.
  used_at         timestamptz
);
CREATE INDEX oauth_clients_unused ON oauth_clients (registered_from, created_at) WHERE used_at IS NULL;
CREATE INDEX oauth_clients_used ON oauth_clients (used_at) WHERE used_at IS NOT NULL;

-- What a member has granted to a client. Deleting the row ends all of its tokens.
CREATE TABLE authorizations (
  id              text PRIMARY KEY,
  workspace_id    text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  member_id       text NOT NULL REFERENCES members (id) ON DELETE CASCADE,
  -- A registered client, or the URL of a metadata document. No reference: such a client has no row.
  client_id       text NOT NULL,
  client_name     text NOT NULL,
  -- The host that the member saw beside the name.
  client_host     text NOT NULL,
  -- Whether the host stands for the client: it serves the metadata document. Registered clients only claim a name.
  client_verified boolean NOT NULL,
  scopes          text[] NOT NULL,
  -- Of those that the member had: what counts is what they have now, but never more than these.
  capabilities    text[] NOT NULL CHECK ('view' = ANY (capabilities)),
  -- The URL that the tokens are for.
  resource        text NOT NULL,
  created_at      timestamptz NOT NULL DEFAULT now(),
  last_used_at    timestamptz
);
CREATE INDEX authorizations_by_member ON authorizations (member_id, created_at DESC, id DESC);
CREATE INDEX authorizations_by_workspace ON authorizations (workspace_id, created_at DESC, id DESC);
CREATE INDEX authorizations_by_client ON authorizations (client_id);

CREATE TABLE authorization_codes (
  code_hash        bytea PRIMARY KEY CHECK (length(code_hash) = 32),
  authorization_id text NOT NULL REFERENCES authorizations (id) ON DELETE CASCADE,
  redirect_uri     text NOT NULL,
  -- Base64url of the SHA-256 of the verifier.
  code_challenge   text NOT NULL CHECK (length(code_challenge) = 43),
  expires_at       timestamptz NOT NULL,
  -- A used code stays until the sweep, so that a second use is noticed.
  used_at          timestamptz
);
CREATE INDEX authorization_codes_of ON authorization_codes (authorization_id);
CREATE INDEX authorization_codes_ended ON authorization_codes (expires_at);

CREATE TABLE authorization_tokens (
  token_hash       bytea PRIMARY KEY CHECK (length(token_hash) = 32),
  authorization_id text NOT NULL REFERENCES authorizations (id) ON DELETE CASCADE,
  kind             text NOT NULL CHECK (kind IN ('access', 'refresh')),
  expires_at       timestamptz NOT NULL,
  -- Of a refresh token: when it was exchanged. The row stays, so that a second use is noticed.
  used_at          timestamptz,
  -- The tokens that replaced it are derived from this and from the token itself, which only the client has.
  salt             bytea CHECK (length(salt) = 32),
  CHECK (kind = 'refresh' OR (used_at IS NULL AND salt IS NULL)),
  CHECK ((used_at IS NULL) = (salt IS NULL))
);
CREATE INDEX authorization_tokens_of ON authorization_tokens (authorization_id);
CREATE INDEX authorization_tokens_ended ON authorization_tokens (expires_at);
