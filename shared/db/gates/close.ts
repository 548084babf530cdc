import { z } from 'zod';
import type { GateConsequences } from '#shared/contract/gates/consequences.ts';
import type { ShownFor } from './decision.ts';
import type { gateKinds, GateVote } from '#shared/contract/gates/gate.ts';
import { withoutNulls } from '#shared/graph/gates/gate-decision.ts';
import type { JsonObject } from '#shared/json.ts';
import { rejectedCall, rejectionError, timeoutError } from '#shared/graph/gates/rejection.ts';
import { bindEffects } from './shown.ts';
import { jsonOrNull, statement, type Tx } from '#shared/db/pool.ts';
import { nextPhase } from '#shared/db/runs/row.ts';
import { completedFrame, failedFrame } from '#shared/db/steps/done.ts';

/** An open gate. The caller has locked the row of its run. */
export interface OpenGate {
  runId: string;
  step_key: string;
  round: number;
  node_id: string;
  kind: (typeof gateKinds)[number];
  /** For a tool call: whether an agent made it. */
  of_agent?: boolean;
  label: string;
  fails_on_reject: boolean;
}

/** How a gate is decided: by a person, by its deadline, or by the request or record of a rehearsal. */
export interface Closing {
  approved: boolean;
  by: { id: string | null; name: string | null; kind: 'member' | 'deadline' | 'request' };
  /** Whether a member decided with a link, without signing in. */
  byLink?: boolean;
  /** Whether a member decided in Slack. */
  bySlack?: boolean;
  input?: JsonObject | null;
  reason?: string | null;
  votes?: readonly GateVote[] | null;
  timedOut?: 'reject' | 'approve' | 'fail' | null;
  /** Which of the shown answers this is, if it does not follow from the other fields. */
  answer?: keyof GateConsequences;
  /**
   * The digest that the approval is bound to. For a tool call, the arguments if the approver changed them; for a gate,
   * its consequences if its input changed them.
   */
  digest?: string | null;
  shown?: Pick<ShownFor, 'consequences' | 'items'> | undefined;
  arguments?: JsonObject | null;
  reusedFrom?: string | null;
}

/**
 * Decides an open gate and writes the consequences: the end of its step, the status and clocks of its run, and the
 * frame.
 */
export async function closeGate(tx: Tx, gate: OpenGate, closing: Closing): Promise<void> {
  const { approved, by, input = null, reason = null, timedOut = null } = closing;
  const isCall = gate.kind === 'tool_call';
  const continues = approved || (timedOut !== 'fail' && !isCall && !gate.fails_on_reject);
  const error = continues ? null : errorOf(gate, closing);
  // An approved call only begins or ends when it is made.
  const ends = !isCall || !continues;
  const frame =
    error === null
      ? completedFrame(gate.runId, gate.node_id, undefined)
      : failedFrame(
          gate.runId,
          gate.node_id,
          gate.of_agent === true ? gate.step_key : undefined,
          error,
        );
  await tx.query(statement(z.object({}))`
    WITH gate AS (
      UPDATE gates SET
        status = ${approved ? 'approved' : 'rejected'}, input = ${jsonOrNull(input)}, reason = ${reason || null},
        decisions = ${jsonOrNull(closing.votes ?? null)}, timed_out = ${timedOut}, decided_at = clock_timestamp(),
        decided_by = ${by.id}, decided_by_name = ${by.name}, decided_by_kind = ${by.kind},
        decided_by_link = ${closing.byLink === true ? true : null},
        decided_by_slack = ${closing.bySlack === true ? true : null},
        decided_digest = ${closing.digest ?? null}, decided_arguments = ${jsonOrNull(closing.arguments ?? null)},
        reused_from = ${closing.reusedFrom ?? null}, situation = NULL,
        consequences = coalesce(${jsonOrNull(closing.shown?.consequences ?? null)}, consequences),
        items = CASE WHEN ${closing.shown === undefined}::boolean THEN items
                ELSE ${jsonOrNull(closing.shown?.items ?? null)}::json END
      WHERE run_id = ${gate.runId} AND step_key = ${gate.step_key} AND round = ${gate.round}::int
    ), step AS (
      UPDATE steps SET
        status = ${ends ? (continues ? 'success' : 'failed') : 'running'}, error = ${error},
        error_kind = ${error === null ? null : timedOut === 'fail' ? 'timeout' : 'rejected'},
        finished_at = CASE WHEN ${ends}::boolean THEN clock_timestamp() END,
        output = ${jsonOrNull(isCall ? null : withoutNulls({ approved, input }))}
      WHERE run_id = ${gate.runId} AND step_key = ${gate.step_key}
    ), run AS (
      UPDATE runs SET
        ${nextPhase(false)}, status = 'running', updated_at = now(), frame_seq = frame_seq + 1
      WHERE id = ${gate.runId} RETURNING id, frame_seq
    )
    INSERT INTO run_frames (run_id, seq, frame)
    SELECT id, frame_seq, ${JSON.stringify(frame)}::json FROM run WHERE ${ends}::boolean
  `);
  if (by.kind === 'request') return;
  const given = timedOut !== null ? 'timeout' : approved ? 'approve' : 'reject';
  const answer = closing.answer ?? given;
  await bindEffects(tx, { run_id: gate.runId, ...gate, answer });
}

function errorOf(
  { of_agent: ofAgent = false, label }: OpenGate,
  { by, timedOut, reason }: Pick<Closing, 'by' | 'timedOut' | 'reason'>,
): string {
  if (timedOut === 'fail') return timeoutError(reason ?? undefined);
  return ofAgent ? rejectedCall(by.name, reason) : rejectionError(label, reason || undefined);
}
