-- The member who counts as the starter of a run, for the gates that exclude them: the one who triggered it, the one who
-- created its schedule, or that of the run above it. Kept with the run, since a schedule can be deleted while a gate of
-- its run is open. Null for a run that nobody started, such as that of an inbound webhook, and for runs from before.
ALTER TABLE runs ADD COLUMN starter_id text;

UPDATE runs r SET starter_id = coalesce(r.created_by, s.created_by)
FROM schedules s
WHERE s.id = r.schedule_id AND r.status IN ('pending', 'running', 'paused');
