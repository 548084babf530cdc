-- Every member who counts as a starter of a run, for the gates that exclude them: of the run itself and of those from
-- which it starts, of the run above it, and of its schedule also those who changed when or with what it runs. Null for
-- runs from before that are not open any more, which have `starter_id`.
ALTER TABLE runs ADD COLUMN starters text[];
ALTER TABLE schedules ADD COLUMN editors text[] NOT NULL DEFAULT '{}';

WITH RECURSIVE line AS (
  SELECT id, id AS at FROM runs WHERE status IN ('pending', 'running', 'paused')
  UNION
  SELECT l.id, o.id FROM line l JOIN runs r ON r.id = l.at JOIN runs o ON o.id IN (r.forked_from, r.parent_run_id)
)
UPDATE runs r SET starters = ARRAY(
  SELECT DISTINCT coalesce(o.starter_id, o.created_by, s.created_by)
  FROM line l JOIN runs o ON o.id = l.at LEFT JOIN schedules s ON s.id = o.schedule_id
  WHERE l.id = r.id AND coalesce(o.starter_id, o.created_by, s.created_by) IS NOT NULL
  ORDER BY 1)
WHERE r.status IN ('pending', 'running', 'paused');
