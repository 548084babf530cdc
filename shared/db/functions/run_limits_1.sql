-- The limits of a run before its next step.
--   applies    a cap of its own, a budget, or the budget of its experiment: a model without a price must not be used
--   reserves   the possible cost of a step must be reserved before it begins
--   stop       what stops even a free step: a cap, else a budget; null: nothing. The runs below a run count against its cap. A
--              run within its estimate is never stopped, even when other holds have filled the budget.
--
-- Never changed once it is released. A change is run_limits_2.
CREATE FUNCTION run_limits_1(run text, OUT applies boolean, OUT reserves boolean, OUT stop json) LANGUAGE plpgsql AS $$
DECLARE
  has_holds boolean := EXISTS (SELECT FROM budget_holds h WHERE h.run_id = run AND h.status = 'open');
  in_experiment boolean := false;
  own record;
  capped record;
BEGIN
  SELECT r.cost_cap_micros, r.cost_micros, r.parent_run_id, r.experiment_id, r.budget_exempt INTO own
  FROM runs r WHERE r.id = run;
  IF own.experiment_id IS NOT NULL OR own.parent_run_id IS NOT NULL THEN
    in_experiment := budgeted_experiment(run) IS NOT NULL;
  END IF;
  applies := own.cost_cap_micros IS NOT NULL OR has_holds OR in_experiment;
  reserves := own.cost_cap_micros IS NOT NULL OR in_experiment;

  IF own.cost_cap_micros IS NOT NULL OR own.parent_run_id IS NOT NULL THEN
    FOR capped IN SELECT * FROM capped_spending(run, '') LOOP
      reserves := true;
      IF capped.cost_micros > capped.cap_micros
         OR (capped.overrun = 'one_step' AND capped.cost_micros = capped.cap_micros) THEN
        stop := json_build_object('budget_id', NULL, 'name', NULL, 'committed', capped.cost_micros,
                                  'limit_micros', capped.cap_micros);
        RETURN;
      END IF;
    END LOOP;
  END IF;
  IF has_holds THEN
    reserves := reserves OR EXISTS (
      SELECT FROM budget_holds h WHERE h.run_id = run AND h.status = 'open' AND h.estimate_micros IS NOT NULL);
    IF NOT own.budget_exempt THEN
      SELECT json_build_object('budget_id', b.id, 'name', b.name, 'committed', c.committed,
                               'limit_micros', b.limit_micros)
      INTO stop
      FROM budget_holds h JOIN budgets b ON b.id = h.budget_id CROSS JOIN LATERAL committed_1(b, h) AS c
      WHERE h.run_id = run AND h.status = 'open'
        AND (h.estimate_micros IS NULL OR own.cost_micros - h.base_micros > h.estimate_micros)
        AND (c.committed > b.limit_micros
             OR c.committed = b.limit_micros AND (h.estimate_micros IS NULL OR b.overrun = 'one_step'))
      ORDER BY b.id LIMIT 1;
    END IF;
  END IF;
END
$$;
