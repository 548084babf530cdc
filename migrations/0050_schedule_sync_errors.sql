-- Why Temporal refused the schedule for good; it does not run until it is changed.
ALTER TABLE schedules ADD COLUMN sync_error text;
-- The release of the time zone rules with which the schedule was synced, such as 2025c; null: without rules of ours.
ALTER TABLE schedules ADD COLUMN told_rules text;
