import type { PendingWrites } from '#shared/graph/call-parts.ts';
import type { StreamFrame } from '#shared/contract/stream.ts';
import type { ControlStep } from '#shared/graph/schedule/scheduler.ts';
import type { StepFrame } from './frames.ts';
import { type FragmentSqlToken, sql } from '#shared/db/pool.ts';

/**
 * The pending writes of calls, as parts of a statement. Each expects a CTE `run` with the locked row's `id`, `epoch`
 * and `base` (the frame number before the first of this statement).
 */

/** `stepKey`: only for a tool call of an agent. */
export function startedFrame(
  runId: string,
  nodeId: string,
  label: string,
  stepKey?: string,
): StreamFrame {
  const started = { run_id: runId, type: 'step_started', node_id: nodeId, label } as const;
  return stepKey === undefined ? started : { ...started, step_key: stepKey };
}

/** `pos`: the position of its first frame among those written with it. */
export type ControlRow = ControlStep & { pos: number };

/**
 * The control steps as rows, one per step key (the last one wins: a loop may start and end in one batch), and the
 * frames they may cause, in order.
 */
export function controlRows(pendingWrites: Pick<PendingWrites, 'run_id' | 'control'>): {
  control: ControlRow[];
  frames: StepFrame[];
} {
  const rows = new Map<string, ControlRow>();
  const frames: StepFrame[] = [];
  const started = new Set<string>();
  for (const step of pendingWrites.control) {
    const pos = rows.get(step.step_key)?.pos ?? frames.length + 1;
    rows.set(step.step_key, { ...step, pos });
    if (step.status === 'skipped') continue;
    const of = { run_id: pendingWrites.run_id, node_id: step.node_id };
    if (!started.has(step.step_key)) {
      started.add(step.step_key);
      const frame = startedFrame(pendingWrites.run_id, step.node_id, step.label);
      frames.push({ step_key: step.step_key, edge: 'opened', frame });
    }
    if (step.status === 'running') continue;
    const frame: StreamFrame =
      step.status === 'failed'
        ? { ...of, type: 'step_failed', error: step.error ?? 'failed' }
        : { ...of, type: 'step_completed' };
    frames.push({ step_key: step.step_key, edge: 'closed', frame });
  }
  return { control: [...rows.values()], frames };
}

/**
 * The columns that an upsert of a step `s` sets when the step restarts: a trigger stores the previous attempt. `begins`
 * is the condition of a restart; a loop or a timer that a cancel closed continues as the same attempt.
 */
export const anotherAttempt = (begins: FragmentSqlToken = sql.fragment`true`) => sql.fragment`
  attempts = s.attempts + CASE WHEN ${begins} THEN 1 ELSE 0 END,
  attempt_started_at = CASE WHEN ${begins} THEN excluded.started_at ELSE s.attempt_started_at END,
  attempt_ended_at = CASE WHEN ${begins} THEN NULL ELSE s.attempt_ended_at END,
  started_at = CASE WHEN ${begins} THEN excluded.started_at ELSE s.started_at END`;

/** The write time of a row of `run`, as a single value: a step that starts and ends with it took no time. */
export const moment = sql.fragment`LATERAL (SELECT run.id, clock_timestamp() AS now) AS moment`;

/** The step was already recorded as failed when its error was caught. */
const endedBefore = sql.fragment`(s.status = 'failed' AND s.epoch = excluded.epoch)`;
const failedBefore = sql.fragment`(old.status = 'failed' AND old.epoch = new.epoch)`;

/**
 * The CTEs `observed` (at which workflow task results entered the execution's state) and `control` (control steps
 * inserted or updated; returns which of them it `opened` and `closed`).
 */
export const pendingWriteCtes = (
  pendingWrites: PendingWrites,
  control: readonly ControlRow[],
) => sql.fragment`
  observations AS (
    SELECT * FROM json_to_recordset(${JSON.stringify(pendingWrites.observed)}::json) AS o (step_key text, event_id bigint)
  ), observed AS (
    -- One statement changes a row once: a control step with an event (a delay) gets it below.
    UPDATE steps SET event_id = o.event_id FROM run, observations o
    WHERE steps.run_id = run.id AND steps.step_key = o.step_key
      -- Always true. The planner expects 100 observations, which are 0 or 1, and with that would read all steps of the
      -- run to update one. It takes an equation between texts as true for few rows, and looks each of them up.
      AND o.step_key || '' = o.step_key
      AND o.step_key <> ALL (${sql.array(
        control.map((step) => step.step_key),
        'text',
      )})
  ), control AS (
    INSERT INTO steps AS s (run_id, step_key, node_id, label, kind, iteration, ordinal, status, epoch, started_at,
                            finished_at, output, error, event_id, output_key,
                            error_kind, caught, errors)
    SELECT run.id, step_key, c.node_id, c.label, c.kind, c.iteration, run.base + c.pos, c.status, run.epoch, moment.now,
           CASE WHEN c.status <> 'running' THEN moment.now END, c.output, c.error, o.event_id, c.output_key,
           c.caught ->> 'kind', c.caught IS NOT NULL, CASE WHEN c.caught IS NULL THEN 0 ELSE (c.caught ->> 'attempts')::int END
    FROM run, ${moment}, json_to_recordset(${JSON.stringify(control)}::json)
           AS c (pos bigint, step_key text, node_id text, label text, kind text, iteration int[], status text,
                 output json, error text, output_key text, caught json)
      LEFT JOIN observations o USING (step_key)
    ON CONFLICT (run_id, step_key) DO UPDATE SET
      status = excluded.status, output = excluded.output, error = excluded.error, epoch = excluded.epoch,
      finished_at = CASE WHEN ${endedBefore} THEN s.finished_at ELSE excluded.finished_at END,
      event_id = coalesce(excluded.event_id, s.event_id),
      error_kind = excluded.error_kind, caught = excluded.caught, errors = greatest(s.errors, excluded.errors),
      ${anotherAttempt(sql.fragment`(s.status = 'failed' AND NOT ${endedBefore}) OR (s.status = 'cancelled' AND excluded.status = 'running')`)}
    -- An execution that starts from the ledger catches the same error again.
    WHERE NOT s.caught AND (
          (s.status = 'running' AND excluded.status <> 'running')
       OR (s.status IN ('failed', 'cancelled', 'skipped') AND s.epoch < excluded.epoch)
       OR (${endedBefore} AND excluded.caught))
    RETURNING new.step_key, NOT coalesce(old.status = 'running' OR ${failedBefore}, false) AS opened,
              new.status IN ('success', 'failed') AND NOT coalesce(${failedBefore}, false) AS closed
  )`;

/**
 * The frames, numbered from `base`, whose step made the transition according to `moved`. The INSERT sorts them by that
 * number, because each gets its time when it is inserted.
 */
export const movedFrames = (frames: readonly StepFrame[], moved: FragmentSqlToken) => sql.fragment`
  SELECT run.id, run.base + f.pos, f.frame
  FROM run, json_to_recordset(${JSON.stringify(frames.map((frame, i) => ({ pos: i + 1, ...frame })))}::json)
         AS f (pos bigint, step_key text, edge text, frame json)
  JOIN ${moved} AS moved USING (step_key)
  WHERE (f.edge = 'opened' AND moved.opened) OR (f.edge = 'closed' AND moved.closed)`;
