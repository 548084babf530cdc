-- The Slack account of a member, which they have confirmed while they were signed in. Only then it decides as them.
CREATE TABLE slack_people (
  member_id     text PRIMARY KEY REFERENCES members (id) ON DELETE CASCADE,
  workspace_id  text NOT NULL REFERENCES workspaces (id) ON DELETE CASCADE,
  -- The account that is confirmed, with its name in Slack at that moment.
  team_id       text,
  user_id       text,
  name          text,
  confirmed_at  timestamptz,
  -- The account that last wanted to decide as the member. It never replaces the confirmed one by itself.
  asked_team_id text,
  asked_user_id text,
  asked_name    text,
  asked_at      timestamptz,
  CONSTRAINT slack_people_confirmed CHECK (num_nulls(team_id, user_id, name, confirmed_at) IN (0, 4)),
  CONSTRAINT slack_people_asked CHECK (num_nulls(asked_team_id, asked_user_id, asked_name, asked_at) IN (0, 4))
);
CREATE INDEX slack_people_by_workspace ON slack_people (workspace_id);
