-- Queues events of a workspace for the webhook endpoints that want them, in the transaction of the change. `events`:
-- [{"id", "type", "is_demo", "data"}], in order; endpoints of test keys receive demo events, those of live keys live ones, and
-- both those without `is_demo`. `endpoint`: only this one receives them, regardless of its subscriptions; null: all.
--
-- An endpoint has at most so many pending deliveries; further ones become dead letters. Only committed ones are counted:
-- concurrent transactions may each fill the remaining room. Returns how many deliveries were queued, and the id of the first.
--
-- Never changed once it is released. A change is queue_events_2.
CREATE FUNCTION queue_events_1(
  workspace text, events json, endpoint text, most_pending integer, OUT deliveries integer, OUT first_delivery text
) LANGUAGE plpgsql AS $$
BEGIN
  WITH happened AS (
    SELECT * FROM ROWS FROM (json_to_recordset(events) AS (id text, type text, is_demo boolean, data json))
      WITH ORDINALITY AS e (id, type, is_demo, data, place)
  ), endpoints AS MATERIALIZED (
    -- Locked, so that a deletion finds what was queued.
    SELECT p.id, p.events, p.is_demo FROM data_endpoints p
    WHERE p.workspace_id = workspace
      AND (p.id = endpoint OR endpoint IS NULL AND p.events && ARRAY(SELECT h.type FROM happened h))
    FOR KEY SHARE
  ), wanted AS MATERIALIZED (
    SELECT h.place, h.id, h.type, h.data, p.id AS endpoint_id,
           row_number() OVER (PARTITION BY h.id ORDER BY p.id) AS n,
           row_number() OVER (PARTITION BY p.id ORDER BY h.place) AS nth
    FROM happened h
    JOIN endpoints p ON endpoint IS NOT NULL
      OR h.type = ANY (p.events) AND (h.is_demo IS NULL OR p.is_demo = h.is_demo)
  ), pending AS MATERIALIZED (
    SELECT p.id AS endpoint_id, (SELECT count(*) FROM (
      SELECT FROM data_deliveries d WHERE d.endpoint_id = p.id AND d.status = 'pending' LIMIT most_pending) AS d) AS number
    FROM endpoints p
  ), queued_events AS (
    INSERT INTO outbound_events (id, workspace_id, type, data)
    SELECT DISTINCT ON (w.place) w.id, workspace, w.type, w.data FROM wanted w ORDER BY w.place
  ), queued AS (
    INSERT INTO data_deliveries (id, workspace_id, endpoint_id, event_id, status, reason, ended_at)
    SELECT 'dlv_' || substr(w.id, 6) || '_' || w.n, workspace, w.endpoint_id, w.id,
           CASE WHEN c.crowded THEN 'dead' ELSE 'pending' END,
           CASE WHEN c.crowded THEN 'More than ' || most_pending || ' deliveries of this endpoint are pending' END,
           CASE WHEN c.crowded THEN now() END
    FROM wanted w JOIN pending p ON p.endpoint_id = w.endpoint_id
    CROSS JOIN LATERAL (SELECT p.number + w.nth > most_pending AS crowded) AS c
    ORDER BY w.place
    RETURNING data_deliveries.id
  )
  SELECT count(*), min(q.id) INTO deliveries, first_delivery FROM queued q;
END
$$;
