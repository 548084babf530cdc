import { sql } from '#shared/db/pool.ts';

/** Parts of statements that lock the run's row. They use its columns without an alias, so `runs` must be the target. */

/** A run row's clocks, updated when its status changes. Shared by every statement that changes it. */
const phaseMs = sql.fragment`
  (extract(epoch FROM clock_timestamp() - coalesce(phase_since, created_at)) * 1000)::bigint`;

export const isOpen = sql.fragment`status IN ('pending', 'running', 'paused')`;

/** Whether the run is open, no resume has replaced this execution, and no resume is in progress. */
export const acceptsWorkOf = (execution: string) => sql.fragment`
  ${isOpen} AND NOT (${execution} = ANY(superseded)) AND NOT resuming`;

/** Whether the run counts for a limit of runs in flight. */
export const hasKey = sql.fragment`(limits ->> 'key' IS NOT NULL)`;

/** The run's active time so far, in ms. */
export const activeMsNow = sql.fragment`
  active_ms + CASE WHEN status = 'running' AND NOT at_rest THEN ${phaseMs} ELSE 0 END`;

const waitingMsNow = sql.fragment`
  waiting_ms + CASE WHEN status = 'paused' OR at_rest THEN ${phaseMs} ELSE 0 END`;

/** The first phase of a run begins with its first work. */
export const startsPhase = sql.fragment`
  phase_since = CASE WHEN status = 'pending' THEN clock_timestamp() ELSE phase_since END`;

/** Adds the phase that ends to its clock, and begins another one. */
export const nextPhase = (atRest: boolean) => sql.fragment`
  active_ms = ${activeMsNow}, waiting_ms = ${waitingMsNow}, phase_since = clock_timestamp(), at_rest = ${atRest}`;

/** The clocks of a run that stops being active or waiting. */
export const stopClocks = sql.fragment`
  active_ms = ${activeMsNow}, waiting_ms = ${waitingMsNow}, at_rest = false,
  phase_since = NULL, finished_at = clock_timestamp(), updated_at = now(), lost_since = NULL`;
