-- Runs whose execution was found gone are settled before others are looked at, however many are open.
CREATE INDEX runs_lost ON runs (lost_since) WHERE lost_since IS NOT NULL;
