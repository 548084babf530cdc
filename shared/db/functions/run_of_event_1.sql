-- A run, as its events show it.
--
-- Never changed once it is released. A change is run_of_event_2.
CREATE FUNCTION run_of_event_1(run text) RETURNS json LANGUAGE plpgsql AS $$
DECLARE
  iso constant text := 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"';
BEGIN
  RETURN (
    SELECT json_build_object(
      'id', r.id, 'workflow_id', r.workflow_id, 'workflow_name', w.name, 'workflow_version', r.workflow_version,
      'status', r.status, 'trigger', r."trigger", 'parent_run_id', r.parent_run_id, 'parent_step_key', r.parent_step_key,
      'error', r.error, 'failure', r.failure, 'cost_usd', trim_scale(r.cost_micros::numeric / 1000000),
      'created_at', to_char(r.created_at AT TIME ZONE 'UTC', iso), 'started_at', to_char(r.started_at AT TIME ZONE 'UTC', iso),
      'finished_at', to_char(r.finished_at AT TIME ZONE 'UTC', iso))
    FROM runs r JOIN workflows w ON w.id = r.workflow_id WHERE r.id = run);
END
$$;
