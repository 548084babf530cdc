-- When evidence was retrieved was kept as it was sent, with any offset and any number of digits. It becomes what every
-- other time of an answer is: UTC with milliseconds. Postgres itself refuses offsets of 16 hours and more.
CREATE FUNCTION time_of_evidence(given text) RETURNS text LANGUAGE sql IMMUTABLE AS $$
  SELECT coalesce(
    (SELECT to_char(
       least(p[1]::timestamp + concat(rpad(left(coalesce(p[2], ''), 3), 3, '0'), ' ms')::interval
             - CASE WHEN p[3] IS NULL THEN interval '0'
                    ELSE concat(p[3], p[4], ' hours ', p[3], p[5], ' minutes')::interval END,
             '9999-12-31 23:59:59.999'),
       'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')
     FROM regexp_match(
       given, '^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(?:Z|([+-])(\d\d):(\d\d))$') AS p
     WHERE p IS NOT NULL),
    given)
$$;

CREATE FUNCTION evidence_in_utc(list jsonb) RETURNS jsonb LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_agg(CASE WHEN jsonb_typeof(item->'retrieved_at') = 'string'
                        THEN jsonb_set(item, '{retrieved_at}', to_jsonb(time_of_evidence(item->>'retrieved_at')))
                        ELSE item END ORDER BY place)
  FROM jsonb_array_elements(list) WITH ORDINALITY AS items (item, place)
$$;

-- Whether a list has a time in another form.
CREATE FUNCTION evidence_needs_utc(list jsonb) RETURNS boolean LANGUAGE sql IMMUTABLE AS $$
  SELECT jsonb_typeof(list) = 'array' AND jsonb_path_exists(
    list,
    '$[*].retrieved_at ? (@.type() == "string" && !(@ like_regex "^.{10}T.{8}\\.[0-9]{3}Z$"))')
$$;

UPDATE data_entities SET source_evidence = evidence_in_utc(source_evidence) WHERE evidence_needs_utc(source_evidence);
UPDATE data_events SET source_evidence = evidence_in_utc(source_evidence) WHERE evidence_needs_utc(source_evidence);
UPDATE data_changes
SET old_value = CASE WHEN evidence_needs_utc(old_value) THEN evidence_in_utc(old_value) ELSE old_value END,
    new_value = CASE WHEN evidence_needs_utc(new_value) THEN evidence_in_utc(new_value) ELSE new_value END
WHERE attribute = 'source_evidence' AND (evidence_needs_utc(old_value) OR evidence_needs_utc(new_value));

DROP FUNCTION evidence_needs_utc, evidence_in_utc, time_of_evidence;
