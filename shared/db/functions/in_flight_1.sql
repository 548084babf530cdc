-- What the steps of a run in progress may cost, except the step with this key. An attempt whose worker died counts only until
-- its claim expires.
--
-- Never changed once it is released. A change is in_flight_2.
CREATE FUNCTION in_flight_1(run text, except_step text, OUT micros bigint, OUT unknown boolean) LANGUAGE plpgsql AS $$
BEGIN
  SELECT coalesce(sum(s.expected_micros), 0), coalesce(bool_or(s.expected_unknown), false) INTO micros, unknown
  FROM steps s
  WHERE s.run_id = run AND s.step_key <> except_step AND s.status = 'running' AND s.claim_until > clock_timestamp();
END
$$;
