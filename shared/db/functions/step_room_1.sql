-- The room for a step of a run, as `admit` in shared/spending.ts judges it: the budget of its experiment, the caps, the other
-- steps of the run in progress, and the budgets. The caller has locked the limits (lock_limits_1).
--
-- Returns null when the run does not exist.
--
-- Never changed once it is released. A change is step_room_2.
CREATE FUNCTION step_room_1(run text, step text) RETURNS json LANGUAGE plpgsql AS $$
BEGIN
  RETURN (
    SELECT json_build_object(
      'inFlight', json_build_object('micros', own.micros, 'unknown', own.unknown),
      'experiment', (
        SELECT json_build_object(
          'cost', s.spent_micros, 'cap', e.budget_micros,
          'inFlight', json_build_object('micros', s.pending_micros, 'unknown', s.pending_unknown))
        FROM experiments e CROSS JOIN LATERAL experiment_spending(e.id, run, step) AS s
        WHERE e.id = budgeted_experiment(run)),
      'caps', (
        SELECT coalesce(json_agg(json_build_object(
          'cost', c.cost_micros, 'cap', c.cap_micros, 'oneStep', c.overrun,
          'inFlight', json_build_object('micros', c.pending_micros, 'unknown', c.pending_unknown))), '[]')
        FROM capped_spending(run, step) AS c),
      'budgets', (
        SELECT coalesce(json_agg(json_build_object(
          'budgetId', b.id, 'name', b.name, 'limit', b.limit_micros, 'oneStep', b.overrun,
          'estimate', h.estimate_micros, 'used', r.cost_micros - h.base_micros, 'held', h.held_micros - h.pending_micros,
          'committed', c.committed, 'pending', c.pending, 'pendingUnknown', c.unknown,
          'contained', h.contained, 'releasable', releasable_1(h)) ORDER BY b.id), '[]')
        FROM budget_holds h JOIN budgets b ON b.id = h.budget_id CROSS JOIN LATERAL committed_1(b, h) AS c
        WHERE h.run_id = run AND h.status = 'open' AND NOT r.budget_exempt))
    FROM runs r CROSS JOIN LATERAL in_flight_1(run, step) AS own
    WHERE r.id = run);
END
$$;
