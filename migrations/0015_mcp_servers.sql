-- Connections to MCP servers that require sign-in. The server's URL, as its metadata has it (RFC 9728): sign-ins and refreshes ask
-- for tokens of this resource only (RFC 8707).
ALTER TABLE connections
  ADD COLUMN resource text,
  ADD CONSTRAINT connections_resource CHECK (resource IS NULL OR grant_type = 'authorization_code') NOT VALID;
ALTER TABLE connections VALIDATE CONSTRAINT connections_resource;

-- Tools of MCP servers authenticate with a secret or a connection, too.
ALTER TABLE custom_tools
  DROP CONSTRAINT custom_tools_request_check,
  ADD CONSTRAINT custom_tools_request_check
    CHECK (request IS NULL AND (auth IS NULL OR kind = 'mcp') AND document_url IS NULL AND document_server IS NULL AND
           response_schema IS NULL AND offered IS NULL
           OR request IS NOT NULL AND kind = 'http' AND pinned_schema IS NOT NULL) NOT VALID;
