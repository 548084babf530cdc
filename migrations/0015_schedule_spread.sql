-- Temporal was told to spread every schedule over twenty seconds. It is told of all of them once more, with a pause
-- that is a second at most as long as there are few.
UPDATE schedules SET told_revision = 0;
