-- What the person who decided gave as the reason.
ALTER TABLE gates ADD COLUMN reason text;

-- When the attempt at a step began that is its last so far, unless that is its very first. Rows from before are not
-- filled, which would write the whole table anew: those with one attempt mean the same without it, and when the others
-- began their last nobody knows.
ALTER TABLE steps ADD COLUMN attempt_started_at timestamptz;
