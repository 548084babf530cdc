-- What admits a run of a workflow, as it is at the moment of the call. Volatile, so that a statement that has waited for
-- others learns what was committed meanwhile.
CREATE FUNCTION workflow_now(workflow text)
RETURNS TABLE (version integer, run_cap_micros bigint, plan text, tool_revision integer) LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN QUERY SELECT w.version, w.run_cap_micros, s.plan, s.tool_revision
    FROM workflows w JOIN workspaces s ON s.id = w.workspace_id WHERE w.id = workflow;
END
$$;
