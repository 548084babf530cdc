-- The state of a run, with the outputs of the steps that it only names (`outputs`: the step key of each name). They are taken
-- as they are: nothing is parsed.
--
-- Never changed once it is released. A change is whole_state_2.
CREATE FUNCTION whole_state_1(run text, state json, outputs json) RETURNS json LANGUAGE plpgsql AS $$
BEGIN
  IF outputs IS NULL THEN
    RETURN state;
  END IF;
  RETURN (
    SELECT json_object_agg(entry.key, coalesce(s.output, entry.value) ORDER BY entry.ordinality)
    FROM json_each(state) WITH ORDINALITY AS entry
    LEFT JOIN json_each_text(outputs) AS named ON named.key = entry.key
    LEFT JOIN steps s ON s.run_id = run AND s.step_key = named.value);
END
$$;
