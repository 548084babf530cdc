-- Filters of the list of runs that a member has saved under a name.
CREATE TABLE run_views (
  workspace_id text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  -- Null: of the credentials without a member.
  member_id    text REFERENCES members (id) ON DELETE CASCADE,
  name         text NOT NULL,
  filter       text NOT NULL,
  saved_at     timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT run_views_one_per_name UNIQUE NULLS NOT DISTINCT (workspace_id, member_id, name)
);
CREATE INDEX run_views_by_member ON run_views (member_id);
