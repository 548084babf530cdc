-- Queues an alert when a budget has spent 80 % or 100 % of its limit: each once in its current window. A past window alerts no
-- more. The caller has locked the budget and booked what was spent, so of several processes one finds the mark passed.
--
-- Never changed once it is released. A change is alert_budget_2.
CREATE FUNCTION alert_budget_1(budget text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  WITH passed AS (
    UPDATE budgets b SET alerted_window = b.window_start, alerted_percent = mark.percent
    FROM (VALUES (80), (100)) AS mark (percent)
    WHERE b.id = budget AND b.alerts AND b.window_start >= budget_window_start(b."window", now())
      AND mark.percent = CASE WHEN b.spent_micros >= b.limit_micros THEN 100
                              WHEN b.spent_micros * 100 >= b.limit_micros * 80 THEN 80 END
      AND mark.percent > CASE WHEN b.alerted_window = b.window_start THEN b.alerted_percent ELSE 0 END
    RETURNING b.*
  )
  INSERT INTO outbox (run_id, kind, payload)
  SELECT p.id, 'alert', json_build_object(
           'event', 'budget', 'workspace_id', p.workspace_id, 'budget_id', p.id, 'budget_name', p.name,
           'percent', p.alerted_percent, 'spent_micros', p.spent_micros, 'limit_micros', p.limit_micros, 'window', p."window",
           'window_start', CASE WHEN p."window" <> 'total' THEN to_char(p.window_start AT TIME ZONE 'UTC', 'YYYY-MM-DD') END)
  FROM passed p;
END
$$;
