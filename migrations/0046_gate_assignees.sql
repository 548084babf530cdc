-- The member who is expected to decide a gate. Others who can decide it still can.
ALTER TABLE gates ADD COLUMN assignee_id text;
