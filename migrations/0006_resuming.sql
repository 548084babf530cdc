-- From a resume until its reset is about to be sent nobody works for the run: whatever execution still speaks is one
-- from before, also one that the run's row has not heard of yet.
ALTER TABLE runs ADD COLUMN resuming boolean NOT NULL DEFAULT false;
