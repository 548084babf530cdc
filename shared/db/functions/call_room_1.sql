-- How many calls are free in a scope, apart from those of one step: by their number in flight, and by those of the last minute;
-- null: not limited. The call of a worker that died is in flight until its claim expires.
--
-- Never changed once it is released. A change is call_room_2.
CREATE FUNCTION call_room_1(
  scope text, concurrency integer, per_minute integer, run text, step text, OUT slots integer, OUT tokens integer
) LANGUAGE plpgsql AS $$
#variable_conflict use_variable
BEGIN
  IF concurrency IS NOT NULL THEN
    slots := concurrency - (
      SELECT count(*) FROM limited_calls c JOIN steps s ON s.run_id = c.run_id AND s.step_key = c.step_key
      WHERE c.scope = scope AND NOT c.ended AND s.claim = c.claim AND s.claim_until > clock_timestamp()
        AND (c.run_id, c.step_key) <> (run, step));
  END IF;
  IF per_minute IS NOT NULL THEN
    tokens := per_minute - (
      SELECT count(*) FROM limited_calls c
      WHERE c.scope = scope AND c.taken_at > clock_timestamp() - interval '1 minute');
  END IF;
END
$$;
