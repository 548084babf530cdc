-- Connections to MCP servers that want sign-in. The server's URL, as its metadata has it (RFC 9728): sign-ins and refreshes ask
-- for tokens of this resource only (RFC 8707).
ALTER TABLE connections
  ADD COLUMN resource text,
  ADD CONSTRAINT connections_resource CHECK (resource IS NULL OR grant_type = 'authorization_code') NOT VALID;
ALTER TABLE connections VALIDATE CONSTRAINT connections_resource;
