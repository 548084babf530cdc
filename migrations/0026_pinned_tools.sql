-- The digest of the schema that an MCP server gave for a tool when it was imported. A call is refused while the server
-- gives another one. Null for a tool that was registered by hand, or changed since.
ALTER TABLE custom_tools ADD COLUMN pinned_schema text CHECK (pinned_schema ~ '^sha256:[0-9a-f]{64}$');
