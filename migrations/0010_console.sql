-- What the person who decided gave as the reason.
ALTER TABLE gates ADD COLUMN reason text;
