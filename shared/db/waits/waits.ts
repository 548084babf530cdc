import { z } from 'zod';
import { waitsToContinue } from '#shared/db/limits/slots.ts';
import { sql, statement, type Tx } from '#shared/db/pool.ts';
import { queueAlert } from '#shared/db/runs/outbox.ts';
import { acceptsWorkOf, hasKey, nextPhase, startsPhase } from '#shared/db/runs/row.ts';
import { storedJson } from '#shared/db/stored-json.ts';
import { CONNECTIONS_PAGE } from '#shared/values/connection-callback.ts';
import type { WaitCall, WaitPlace, WaitReport, WaitsFor } from '#shared/graph/waits/wait-call.ts';

/**
 * Steps that wait. Each change locks the row of the run, then that of the wait. What comes from outside locks only the
 * row of the wait, and counts if it is still open.
 */

export type Caller<Call> = Call & { execution: string };

const heldRun = z.object({
  workspace_id: z.string(),
  epoch: z.number(),
  limited: z.boolean(),
});
export type HeldRun = z.infer<typeof heldRun>;

/** Null when the run does not accept the work. */
export const lockRun = (
  tx: Tx,
  { run_id, execution }: Caller<WaitPlace>,
): Promise<HeldRun | null> =>
  tx.maybeOne(statement(heldRun)`
    SELECT workspace_id, resumed_count AS epoch, ${hasKey} AS limited FROM runs
    WHERE id = ${run_id} AND ${acceptsWorkOf(execution)} FOR UPDATE
  `);

/** Notes that the execution works for the run. */
export const noteExecution = (tx: Tx, { run_id, execution }: Caller<WaitPlace>): Promise<unknown> =>
  tx.query(statement(z.object({}))`
    UPDATE runs SET temporal_run_id = ${execution}, lost_since = NULL, updated_at = now(),
      started_at = coalesce(started_at, clock_timestamp()),
      ${startsPhase}, status = CASE WHEN status = 'pending' THEN 'running' ELSE status END
    WHERE id = ${run_id}
  `);

/** When the time of a wait is up; null: it has no deadline. */
const dueAt = (awaited: WaitsFor) => {
  if (awaited.for === 'time' && 'until_ms' in awaited) {
    return sql.fragment`to_timestamp(${awaited.until_ms / 1_000}::float8)`;
  }
  const seconds = awaited.for === 'time' ? awaited.seconds : awaited.timeout_seconds;
  return sql.fragment`clock_timestamp() + ${seconds ?? null}::float8 * interval '1 s'`;
};

/**
 * Opens a wait. One whose run was cancelled continues, with its time if it waits for one and with a new deadline otherwise;
 * one that failed the run because its time ran out begins again. Returns false if it is open, or has ended.
 */
export async function insertWait(
  tx: Tx,
  call: WaitCall,
  { workspace_id, epoch }: HeldRun,
): Promise<boolean> {
  const { rowCount } = await tx.query(statement(z.object({}))`
    INSERT INTO run_waits AS w (run_id, step_key, workspace_id, node_id, label, series, kind, waits_for, epoch, due_at, remind_at, wake_at)
    SELECT ${call.run_id}, ${call.step_key}, ${workspace_id}, ${call.node_id}, ${call.label}, ${call.series},
           ${call.waits_for.for}, ${JSON.stringify(call.waits_for)}::json, ${epoch}, at.due, at.remind, least(at.due, at.remind)
    FROM (SELECT ${dueAt(call.waits_for)} AS due,
                 clock_timestamp() + ${call.remind_seconds ?? null}::float8 * interval '1 s' AS remind) AS at
    ON CONFLICT (run_id, step_key) DO UPDATE SET
      status = 'open', waits_for = excluded.waits_for, epoch = excluded.epoch, ended_at = NULL,
      due_at = CASE WHEN w.kind = 'time' AND w.status = 'cancelled' THEN w.due_at ELSE excluded.due_at END
    WHERE w.status = 'cancelled' OR (w.status = 'late' AND w.epoch < excluded.epoch)
  `);
  return rowCount > 0;
}

const cancelledRow = z.object({ waits_for: storedJson<WaitsFor>(), series: z.string() });
export type ReopenedWait = z.infer<typeof cancelledRow>;

/**
 * Opens a wait again that the end of its run had cancelled, although the execution still waits. Null if it was not
 * cancelled.
 */
export async function reopenWait(
  tx: Tx,
  { run_id, step_key }: WaitPlace,
  { epoch }: HeldRun,
): Promise<ReopenedWait | null> {
  const row = await tx.maybeOne(statement(cancelledRow)`
    SELECT waits_for, series FROM run_waits WHERE run_id = ${run_id} AND step_key = ${step_key} AND status = 'cancelled' FOR UPDATE
  `);
  if (row === null) return null;
  await tx.query(statement(z.object({}))`
    WITH wait AS (
      UPDATE run_waits SET status = 'open', epoch = ${epoch},
        due_at = CASE WHEN kind = 'time' THEN due_at ELSE ${dueAt(row.waits_for)} END
      WHERE run_id = ${run_id} AND step_key = ${step_key}
    )
    UPDATE steps SET status = 'running', epoch = ${epoch}, finished_at = NULL
    WHERE run_id = ${run_id} AND step_key = ${step_key} AND status = 'cancelled'
  `);
  return row;
}

const remindedRow = z.object({
  node_id: z.string(),
  label: z.string(),
  kind: z.enum(['time', 'event', 'callback']),
  events: z.array(z.string()),
});

/** Queues the alert of a wait that is due, once. Returns whether it was due. */
export async function remindOfWait(
  tx: Tx,
  { run_id, step_key }: WaitPlace,
  { alerts }: { alerts: boolean },
): Promise<boolean> {
  const wait = await tx.maybeOne(statement(remindedRow)`
    UPDATE run_waits SET remind_at = NULL
    WHERE run_id = ${run_id} AND step_key = ${step_key} AND status = 'open' AND remind_at <= clock_timestamp()
    RETURNING node_id, label, kind,
      coalesce((SELECT array_agg(e ->> 'name') FROM json_array_elements(waits_for -> 'events') AS e), '{}') AS events
  `);
  if (wait === null) return false;
  const { node_id: nodeId, label, kind, events } = wait;
  const awaited = { time: 'a time', event: events.join(' or '), callback: 'a callback' }[kind];
  const text = `'${label}' waits for ${awaited}`;
  const place = { runId: run_id, nodeId, stepKey: step_key };
  await queueAlert(tx, { ...place, event: 'waiting', text, byService: alerts });
  return true;
}

const waitRow = z.object({
  status: z.enum(['open', 'came', 'late', 'cancelled']),
  kind: z.enum(['time', 'event', 'callback']),
  output: storedJson().nullable(),
  is_due: z.boolean(),
  is_armed: z.boolean(),
  waited_seconds: z.number(),
});

/** When the execution of an open wait is woken. */
const wakeAt = sql.fragment`CASE WHEN status = 'open' THEN least(due_at, remind_at) END`;

const lockWait = (
  tx: Tx,
  { run_id, step_key }: WaitPlace,
): Promise<z.infer<typeof waitRow> | null> =>
  tx.maybeOne(statement(waitRow)`
    SELECT status, kind, output, coalesce(due_at <= clock_timestamp(), false) AS is_due, wake_at IS NOT DISTINCT FROM ${wakeAt} AS is_armed,
           extract(epoch FROM coalesce(ended_at, clock_timestamp()) - opened_at)::float8 AS waited_seconds
    FROM run_waits WHERE run_id = ${run_id} AND step_key = ${step_key} FOR UPDATE
  `);

const armWait = (tx: Tx, { run_id, step_key }: WaitPlace): Promise<unknown> =>
  tx.query(statement(z.object({}))`
    UPDATE run_waits SET wake_at = ${wakeAt} WHERE run_id = ${run_id} AND step_key = ${step_key}
  `);

/** Ends a locked wait whose time is up, if it is open, and notes that its execution knows. */
const endWait = ({ run_id, step_key }: WaitPlace) => sql.fragment`
  UPDATE run_waits SET
    status = CASE WHEN status <> 'open' THEN status WHEN kind = 'time' THEN 'came' ELSE 'late' END,
    output = CASE WHEN status = 'open' AND kind = 'time' THEN '{}'::json ELSE output END,
    ended_at = coalesce(ended_at, clock_timestamp()), wake_at = NULL
  WHERE run_id = ${run_id} AND step_key = ${step_key}`;

/** How a wait has ended, for the metrics. */
export interface EndedWait {
  kind: 'time' | 'event' | 'callback';
  outcome: 'came' | 'late';
  seconds: number;
}

/** What the execution gets, and what only the metrics need. */
export interface WaitLook {
  report: WaitReport;
  ended?: EndedWait;
}

/**
 * Ends the wait if its time is up, and reads it. A wait that has ended continues its run, even from a pause. While the run
 * waits for a slot to continue, the wait is still open for its execution.
 */
export async function lookAtWait(
  tx: Tx,
  { run_id, step_key, execution }: Caller<WaitPlace>,
  run: HeldRun | null,
): Promise<WaitLook> {
  const place = { run_id, step_key };
  const wait = run === null ? null : await lockWait(tx, place);
  if (run === null || wait === null || wait.status === 'cancelled') {
    return { report: { state: 'gone' } };
  }
  const { kind, output, is_due, is_armed, waited_seconds: seconds } = wait;
  if (wait.status === 'open' && !is_due) {
    if (!is_armed) await armWait(tx, place);
    return { report: { state: 'open' } };
  }
  if (run.limited && (await waitsToContinue(tx, run_id))) {
    await tx.query(statement(z.object({}))`${endWait(place)}`);
    return { report: { state: 'open' } };
  }
  await tx.query(statement(z.object({}))`
    WITH ended AS (${endWait(place)})
    UPDATE runs SET
      ${nextPhase(false)},
      status = 'running', updated_at = now(), lost_since = NULL, temporal_run_id = ${execution}
    WHERE id = ${run_id} AND (status = 'paused' OR at_rest)
  `);
  const isLate = wait.status === 'late' || (wait.status === 'open' && kind !== 'time');
  return {
    report: isLate ? { state: 'late' } : { state: 'came', output: output ?? {} },
    ended: { kind, outcome: isLate ? 'late' : 'came', seconds },
  };
}

/** The maximum number of waits in the record of a run. */
const MAX_WAITS = 100;

/** What steps of open runs wait for: times, events, callbacks, sign-ins, and free calls of tools and models. */
export const allWaits = sql.fragment`
  SELECT o.run_id, o.step_key, o.workspace_id, o.node_id, o.label, o.kind AS for, o.opened_at, o.due_at,
         coalesce((SELECT json_agg(e ->> 'name') FROM json_array_elements(o.waits_for -> 'events') AS e), '[]') AS events,
         NULL::json AS limit,
         CASE WHEN o.kind = 'connection' THEN json_build_object(
           'id', o.connection_id, 'name', o.waits_for ->> 'name', 'reason', o.waits_for ->> 'reason', 'member_id', o.member_id,
           'member_name', coalesce((SELECT m.name FROM members m WHERE m.id = o.member_id AND m.workspace_id = o.workspace_id), ''),
           'page', ${`${CONNECTIONS_PAGE}?connection=`}::text || o.connection_id)
         END AS connection
  FROM run_waits o WHERE o.status = 'open'
  UNION ALL
  SELECT c.run_id, c.step_key, c.workspace_id, c.node_id, c.label, 'limit', c.since, NULL, '[]'::json,
         json_build_object('name', c.target, 'key', c.key, 'concurrency', c.concurrency, 'per_minute', c.per_minute),
         NULL::json
  FROM call_waits c`;

/** The open waits of a run `r`, as its record has them. */
export const openWaits = sql.fragment`
  coalesce((
    SELECT json_agg(json_build_object(
             'node_id', w.node_id, 'step_key', w.step_key, 'label', w.label, 'for', w.for, 'since', w.opened_at, 'until', w.due_at,
             'events', w.events, 'limit', w.limit, 'connection', w.connection) ORDER BY w.opened_at, w.step_key)
    FROM (SELECT * FROM (${allWaits}) AS o WHERE o.run_id = r.id ORDER BY o.opened_at, o.step_key LIMIT ${MAX_WAITS}) AS w
  ), '[]')`;
