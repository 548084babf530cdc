-- An approval of a tool call is bound to what the call reaches. Calls that wait have no digest of it: those of custom tools and
-- of workflows are refused when they are approved, and the agent can call again.
ALTER TABLE custom_tools ADD COLUMN revision int NOT NULL DEFAULT 1;
ALTER TABLE gates ADD COLUMN tool_digest text;
