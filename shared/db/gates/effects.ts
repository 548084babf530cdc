import type { ErrorKind } from '../../graph/caught-error.ts';
import { type FragmentSqlToken, type ListSqlToken, sql } from '../pool.ts';
import { LEASE_MS } from '../runs/outbox.ts';
import { phaseMs } from '../runs/row.ts';

/**
 * CTEs for what follows from a decided gate: its step, the status and clocks of its run, and the frame. They expect a CTE
 * `gate` with `run_id, step_key, round, node_id, kind, continues, error`, of at most one row. `output` is the step's, for
 * a human gate, and `errorKind` that of its error.
 */
export const decisionEffects = (
  output: FragmentSqlToken,
  errorKind: Extract<ErrorKind, 'rejected' | 'timeout'> = 'rejected',
) => sql.fragment`
    step AS (
      UPDATE steps SET
        status = CASE WHEN NOT gate.continues THEN 'failed' WHEN gate.kind = 'tool_call' THEN 'running' ELSE 'success' END,
        error = gate.error, error_kind = CASE WHEN gate.error IS NOT NULL THEN ${errorKind}::text END,
        finished_at = CASE WHEN gate.kind = 'human_gate' OR NOT gate.continues THEN clock_timestamp() END,
        output = CASE WHEN gate.kind = 'human_gate' THEN ${output}::json END
      FROM gate WHERE steps.run_id = gate.run_id AND steps.step_key = gate.step_key
    ), moved AS (
      UPDATE runs SET status = 'running',
        waiting_ms = waiting_ms + CASE WHEN status = 'paused' THEN ${phaseMs} ELSE 0 END,
        phase_since = CASE WHEN status = 'paused' THEN clock_timestamp() ELSE phase_since END,
        updated_at = now(), frame_seq = frame_seq + 1
      FROM gate WHERE runs.id = gate.run_id RETURNING runs.id, runs.frame_seq
    ), frame AS (
      INSERT INTO run_frames (run_id, seq, frame)
      SELECT moved.id, moved.frame_seq,
             CASE WHEN gate.continues
                  THEN json_build_object('run_id', moved.id, 'type', 'step_completed', 'node_id', gate.node_id)
                  ELSE json_strip_nulls(json_build_object('run_id', moved.id, 'type', 'step_failed', 'node_id', gate.node_id,
                         'error', gate.error, 'step_key', CASE WHEN gate.kind = 'tool_call' THEN gate.step_key END)) END
      FROM moved, gate
      -- An approved call begins or ends only when it is made.
      WHERE NOT (gate.kind = 'tool_call' AND gate.continues)
    )`;

/** A CTE that queues the decision for the execution. `answer` has the members of a `json_build_object`. */
export const queuedDecision = (answer: ListSqlToken) => sql.fragment`
    promise AS (
      INSERT INTO outbox (run_id, kind, payload, leased_until)
      SELECT gate.run_id, 'decision', json_build_object('step_key', gate.step_key, 'round', gate.round, ${answer}),
             now() + ${LEASE_MS}::int * interval '1 ms'
      FROM gate RETURNING id
    )`;

/**
 * Whether the decision can be sent now. Other decisions do not block it: each names its gate and round, so their order
 * does not matter.
 */
export const isFirstOf = (runId: string) => sql.fragment`
  NOT EXISTS (SELECT FROM outbox WHERE run_id = ${runId} AND kind NOT IN ('alert', 'child', 'decision'))`;
