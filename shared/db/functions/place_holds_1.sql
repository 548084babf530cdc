-- Places the holds of a run that starts or resumes, on all budgets of its workflow and its workspace. `n` counts the resumes,
-- `base_micros` is what the run has cost before, and `parent` is the run that started it. An exempt run is always admitted
-- and still counted. The caller shares the budgets (`share_budgets`) and has locked the run.
--
-- The counters are on the budget's row, and only a locked row is trusted. Rows are locked in the order of their ids. A budget
-- without an estimate reserves nothing, so its row is kept from deletion and nobody waits for it. The hold of a run that
-- `parent` started reserves nothing: it is contained in that of its lender.
--
-- Raises `budget` for the first budget without room: see require_room_1.
--
-- Never changed once it is released. A change is place_holds_2.
CREATE FUNCTION place_holds_1(
  run text, n integer, base_micros bigint, workspace text, workflow text, parent text, exempt boolean
) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
  budget budgets;
  room record;
  estimate bigint;
BEGIN
  -- First without a lock: a flood of refused triggers must not queue for the row.
  FOR budget IN
    SELECT * FROM budgets b WHERE b.workspace_id = workspace AND (b.workflow_id IS NULL OR b.workflow_id = workflow)
    ORDER BY b.id
  LOOP
    PERFORM require_room_1(budget, parent, exempt);
  END LOOP;
  IF NOT FOUND THEN
    RETURN;
  END IF;

  FOR budget IN
    SELECT * FROM budgets b WHERE b.workspace_id = workspace AND (b.workflow_id IS NULL OR b.workflow_id = workflow)
    ORDER BY b.id
  LOOP
    IF budget.estimate_micros IS NOT NULL THEN
      -- The estimate comes from the locked row, too: it may have been cleared.
      SELECT * INTO budget FROM budgets b WHERE b.id = budget.id FOR UPDATE;
    ELSE
      SELECT * INTO budget FROM budgets b WHERE b.id = budget.id FOR KEY SHARE;
      -- One that is set just now counts from the next run on.
      budget.estimate_micros := NULL;
    END IF;
    CONTINUE WHEN budget.id IS NULL; -- It was deleted meanwhile.

    room := require_room_1(budget, parent, exempt);
    estimate := CASE WHEN budget.estimate_micros IS NOT NULL AND (exempt OR room.contained) THEN 0
                     ELSE budget.estimate_micros END;
    IF estimate IS NOT NULL THEN
      UPDATE budgets b SET window_start = room.window_start, spent_micros = room.spent,
                           reserved_micros = room.reserved + estimate
      WHERE b.id = budget.id;
    END IF;
    INSERT INTO budget_holds (budget_id, run_id, n, window_start, base_micros, estimate_micros, held_micros, contained)
    VALUES (budget.id, run, n, room.window_start, base_micros, estimate, coalesce(estimate, 0),
            room.contained AND estimate IS NOT NULL);
  END LOOP;
END
$$;
