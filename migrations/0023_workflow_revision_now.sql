-- Stands for a workflow and its workspace as they are at the moment of the call: another text after each change of
-- either. Volatile, so that a statement that has waited for others learns what was committed meanwhile.
CREATE FUNCTION workflow_revision_now(workflow text) RETURNS text LANGUAGE plpgsql VOLATILE AS $$
BEGIN
  RETURN (SELECT w.xmin || '/' || s.xmin FROM workflows w JOIN workspaces s ON s.id = w.workspace_id WHERE w.id = workflow);
END
$$;
