-- Requires that a budget has room for another run in its current window, as the given row says. With an estimate a hold fits
-- when committed < limit and committed + estimate <= limit; without one, when spent < limit. The hold of a run that `parent`
-- started is contained in that of its lender, the nearest run above it that placed an estimate in this window: it fits while
-- the lender or the budget has something left. An exempt run always fits.
--
-- Returns the window, its counters, and whether the hold is contained.
-- Raises `budget` with budget_id, name, limit_micros, committed_micros and estimate_micros.
--
-- Never changed once it is released. A change is require_room_2.
CREATE FUNCTION require_room_1(
  budget budgets, parent text, exempt boolean,
  OUT window_start timestamptz, OUT spent bigint, OUT reserved bigint, OUT contained boolean
) LANGUAGE plpgsql AS $$
DECLARE
  lender_window timestamptz;
  free bigint;
  committed bigint;
  fits boolean;
BEGIN
  -- A clock that is slightly behind does not return to the previous window.
  window_start := greatest(budget.window_start, budget_window_start(budget."window", now()));
  spent := CASE WHEN budget.window_start < window_start THEN 0 ELSE budget.spent_micros END;
  reserved := CASE WHEN budget.window_start < window_start THEN 0 ELSE budget.reserved_micros END;
  contained := false;

  IF parent IS NOT NULL THEN
    -- Nothing uses what is left of its estimate beyond its cost and its steps in progress. An attempt whose worker died
    -- counts only until its claim expires.
    SELECT h.window_start, h.estimate_micros - (r.cost_micros - h.base_micros) - (
             SELECT coalesce(sum(s.expected_micros), 0) FROM steps s
             WHERE s.run_id = r.id AND s.status = 'running' AND s.claim_until > clock_timestamp())
    INTO lender_window, free
    FROM runs_above(parent) a JOIN runs r ON r.id = a.id JOIN budget_holds h ON h.run_id = r.id
    WHERE h.budget_id = budget.id AND h.status = 'open' AND NOT h.contained AND h.estimate_micros IS NOT NULL
    ORDER BY a.depth DESC LIMIT 1;
    contained := coalesce(lender_window = window_start, false);
  END IF;

  committed := CASE WHEN budget.estimate_micros IS NULL THEN spent ELSE spent + reserved END;
  fits := CASE
    WHEN exempt THEN true
    WHEN budget.estimate_micros IS NULL THEN committed < budget.limit_micros
    WHEN contained THEN free > 0 OR committed < budget.limit_micros
    ELSE committed < budget.limit_micros AND committed + budget.estimate_micros <= budget.limit_micros END;
  IF NOT fits THEN
    PERFORM refuse('budget', json_build_object(
      'budget_id', budget.id, 'name', budget.name, 'limit_micros', budget.limit_micros,
      'committed_micros', committed, 'estimate_micros', budget.estimate_micros));
  END IF;
END
$$;
