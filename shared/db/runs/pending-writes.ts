import type { PendingWrites } from '#shared/graph/call-parts.ts';
import type { StreamFrame } from '#shared/contract/runs/stream.ts';
import type { ControlStep } from '#shared/graph/schedule/scheduler.ts';
import type { StepFrame } from './frames.ts';
import { type FragmentSqlToken, sql } from '#shared/db/pool.ts';

/** The pending writes of calls, in the form that the database function `write_control_2` expects. */

/** `stepKey` is only set for a tool call of an agent. */
export function startedFrame(
  runId: string,
  nodeId: string,
  label: string,
  stepKey?: string,
): StreamFrame {
  const started = { run_id: runId, type: 'step_started', node_id: nodeId, label } as const;
  return stepKey === undefined ? started : { ...started, step_key: stepKey };
}

/** `pos` is the position of its first frame among those written with it. */
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
