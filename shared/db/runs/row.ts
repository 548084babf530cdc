import { type FragmentSqlToken, sql } from '#shared/db/pool.ts';

/** Parts of statements that lock the run's row. They use its columns without an alias: `runs` must be the target. */

/** A run row's clocks, updated when its status changes. Shared by every statement that changes it. */
export const phaseMs = sql.fragment`
  (extract(epoch FROM clock_timestamp() - coalesce(phase_since, created_at)) * 1000)::bigint`;

/** Whether the run is open, no resume has replaced this execution, and no resume is in progress. */
export const acceptsWorkOf = (execution: string) => sql.fragment`
  status IN ('pending', 'running', 'paused') AND NOT (${execution} = ANY(superseded)) AND NOT resuming`;

/** The run's active time so far, in ms. */
export const activeMsNow = sql.fragment`active_ms + CASE WHEN status = 'running' THEN ${phaseMs} ELSE 0 END`;

/** The clocks of a run that stops being active or waiting, now or earlier, after `activeMs` of active time. */
export const stopClocks = (activeMs: FragmentSqlToken = activeMsNow) => sql.fragment`
  active_ms = ${activeMs},
  waiting_ms = waiting_ms + CASE WHEN status = 'paused' THEN ${phaseMs} ELSE 0 END,
  phase_since = NULL, finished_at = clock_timestamp(), updated_at = now(), lost_since = NULL`;

/**
 * CTEs that close the steps and gates that are still open in a run that ends. They expect a CTE `run` with its `id`.
 * `written`: step keys that another part of the same statement writes, since a statement can change a row only once.
 *
 * Claims stay. A running attempt still stores its result and cost, which a resume can use; the claim of a dead worker
 * expires.
 */
export const closeOpenSteps = (written: readonly string[] = []) => sql.fragment`
  closed_steps AS (
    UPDATE steps SET status = 'cancelled', finished_at = clock_timestamp() FROM run
    WHERE steps.run_id = run.id AND steps.status IN ('running', 'paused')
      AND steps.step_key <> ALL(${sql.array([...written], 'text')})
  ), closed_gates AS (
    UPDATE gates SET status = 'cancelled' FROM run WHERE gates.run_id = run.id AND gates.status = 'open'
  )`;
