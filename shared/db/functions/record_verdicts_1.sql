-- Writes the events of the policies' verdicts on a step, in their order, except for those that it had before (`known`).
--
-- Never changed once it is released. A change is record_verdicts_2.
CREATE FUNCTION record_verdicts_1(run text, node text, verdicts json, known jsonb) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  INSERT INTO governance_events (workspace_id, type, workflow_id, version, run_id, node_id, policy, decision, reason, evidence)
  SELECT r.workspace_id, v.verdict ->> 'type', r.workflow_id, r.workflow_version, r.id, node, v.verdict ->> 'policy',
         v.verdict ->> 'decision', v.verdict ->> 'reason', v.verdict -> 'evidence'
  FROM runs r CROSS JOIN json_array_elements(verdicts) WITH ORDINALITY AS v (verdict, place)
  WHERE r.id = run AND NOT known @> jsonb_build_array(v.verdict)
  ORDER BY v.place;
END
$$;
