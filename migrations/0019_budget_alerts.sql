-- Alerts of budgets follow from what is booked, also by processes of 1.0.0, whose functions do not know them.

CREATE FUNCTION alert_spent_budget() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
  PERFORM alert_budget_1(new.id);
  RETURN NULL;
END
$$;

CREATE TRIGGER budgets_alert AFTER UPDATE OF spent_micros ON budgets FOR EACH ROW
  WHEN (new.alerts AND new.spent_micros > 0 AND (new.spent_micros, new.window_start) IS DISTINCT FROM (old.spent_micros, old.window_start))
  EXECUTE FUNCTION alert_spent_budget();
