import type { RunEventType } from '#shared/contract/data/outbound.ts';
import { newId } from '#shared/crypto/ids.ts';
import { type FragmentSqlToken, sql } from '#shared/db/pool.ts';
import { queueCtes } from './outbound-events.ts';

/**
 * Events of runs, as parts of the statements that change them: a change and its event are committed together, and a run
 * of a workspace without endpoints pays for no further statement.
 */

/** The columns of `runs` that an event shows, for the CTE `run`. */
export const runEventColumns = sql.fragment`
  id, workspace_id, workflow_id, workflow_version, status, "trigger", parent_run_id, parent_step_key, error, failure,
  cost_micros, created_at, started_at, finished_at, rehearsal`;

/** A time as in all responses. */
export const eventTime = (time: FragmentSqlToken) => sql.fragment`
  to_char(${time} AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** `run` of an event. Expects a row `run` with the columns above and the row `w` of its workflow. */
export const runOfEvent = sql.fragment`
  json_build_object(
    'id', run.id, 'workflow_id', run.workflow_id, 'workflow_name', w.name, 'workflow_version', run.workflow_version,
    'status', run.status, 'trigger', run."trigger", 'parent_run_id', run.parent_run_id,
    'parent_step_key', run.parent_step_key, 'error', run.error, 'failure', run.failure,
    'cost_usd', trim_scale(run.cost_micros::numeric / 1000000), 'created_at', ${eventTime(sql.fragment`run.created_at`)},
    'started_at', ${eventTime(sql.fragment`run.started_at`)}, 'finished_at', ${eventTime(sql.fragment`run.finished_at`)})`;

/**
 * Whether an endpoint of the run's workspace wants one of these events: otherwise nothing is computed for them.
 * Rehearsals have none.
 */
export const isWanted = (types: readonly RunEventType[]) => sql.fragment`
  run.rehearsal IS NULL AND EXISTS (SELECT FROM data_endpoints p
          WHERE p.workspace_id = run.workspace_id AND p.events && ${sql.array([...types], 'text')})`;

/** CTEs that queue the event of a run that ended. They expect a CTE `run`, of at most one row, with the columns above. */
export const endEventCtes = (type: RunEventType) => sql.fragment`
  happened AS (
    SELECT 1 AS at, ${newId('outboundEvent')} AS id, ${type}::text AS type, NULL::boolean AS is_demo,
           json_build_object('run', ${runOfEvent}) AS data
    FROM run JOIN workflows w ON w.id = run.workflow_id
    WHERE ${isWanted([type])}
  ), ${queueCtes(sql.fragment`(SELECT workspace_id FROM run)`)}`;
