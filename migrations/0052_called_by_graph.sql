-- What a version of a workflow calls, as its graph names it. An editor needs other permissions to change what a published
-- workflow, or one with a trigger, reaches at any distance; the search walks backwards from what changes, by the index.
--
--   custom:<name>             a custom tool that a node calls, or an agent offers
--   workflow <id or name>     a workflow that a node calls, or an agent offers
--   current <id or name>      the same, where it is the current version
--   <version> <id or name>    the same, where it is this version
--   offered <tool>            a custom tool or a workflow whose texts the model of an agent reads
--
-- A version can be drawn in any form. No name has 500 characters, and an entry of the index has at most 2,700 bytes.
CREATE FUNCTION called_by_graph(graph json) RETURNS text[] LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE AS $$
  SELECT coalesce(array_agg(DISTINCT called), '{}')
  FROM (
    SELECT n FROM json_array_elements(CASE WHEN json_typeof(graph -> 'nodes') = 'array' THEN graph -> 'nodes' ELSE '[]' END) AS n
    WHERE json_typeof(n) = 'object'
  ) AS nodes
  CROSS JOIN LATERAL (
    SELECT n ->> 'tool_name' AS called
    UNION ALL
    SELECT 'workflow ' || (n ->> 'workflow') WHERE n ->> 'kind' = 'workflow'
    UNION ALL
    SELECT CASE WHEN n ->> 'version' ~ '^[1-9][0-9]*$' THEN n ->> 'version' ELSE 'current' END || ' ' || (n ->> 'workflow')
    WHERE n ->> 'kind' = 'workflow'
    UNION ALL
    SELECT prefix || CASE WHEN prefix IN ('', 'offered ') THEN tool ELSE substr(tool, length('workflow:') + 1) END
    FROM (
      SELECT CASE json_typeof(entry) WHEN 'string' THEN entry #>> '{}' WHEN 'object' THEN entry ->> 'name' END AS tool
      FROM json_array_elements(CASE WHEN json_typeof(n -> 'tools') = 'array' THEN n -> 'tools' ELSE '[]' END) AS entry
    ) AS entries
    CROSS JOIN unnest(CASE WHEN starts_with(tool, 'custom:') THEN ARRAY['', 'offered ']
                           WHEN starts_with(tool, 'workflow:') THEN ARRAY['workflow ', 'current ', 'offered '] END) AS prefix
  ) AS calls
  WHERE length(called) < 500
    AND (starts_with(called, 'custom:') OR strpos(called, ' ') > 0)
$$;

CREATE INDEX workflow_versions_by_called ON workflow_versions USING gin (called_by_graph(graph));
