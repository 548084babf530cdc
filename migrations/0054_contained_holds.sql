-- The hold of a run that another one started is part of that run's: it places no estimate of its own, takes what its
-- requests need from the hold of the nearest run above it that placed one, and gives back what they did not use. Its
-- estimate_micros is what it has taken.
ALTER TABLE budget_holds ADD COLUMN contained boolean NOT NULL DEFAULT false;
