import { recordAudit } from '#shared/db/audit/audit.ts';
import type { Tx } from '#shared/db/pool.ts';
import { findWaitingStep, rejectSignInWait, type WaitingStep } from '#shared/db/waits/sign-ins.ts';
import { type AppError, conflict } from '#shared/errors.ts';
import { withoutNulls } from '#shared/graph/gates/gate-decision.ts';
import type { JsonObject } from '#shared/json.ts';
import type { Decision } from './decision.ts';
import type { GateToDecide } from './gate-to-decide.ts';

/** Decisions about steps that wait for a sign-in. No one can approve them, and a rejection fails the step. */

/** The step that a decision is about because it waits for a sign-in. A rejection must name it. */
export async function findWaiting(
  tx: Tx,
  { actor, runId, nodeId, stepKey, approved }: Decision,
  gate: GateToDecide | undefined,
): Promise<WaitingStep | undefined> {
  const isNamed = nodeId !== undefined || stepKey !== undefined;
  if (!isNamed && !(approved && gate === undefined)) return undefined;
  return findWaitingStep(tx, { workspaceId: actor.workspaceId, runId, nodeId, stepKey });
}

export const notApprovable = ({ step_key, name, member_name }: WaitingStep): AppError =>
  conflict(
    `Step '${step_key}' waits until ${member_name ?? 'its member'} signs in to the connection '${name}': no one can approve that`,
  );

/** Fails a step that waits for a sign-in, as the next attempt finds. */
export async function rejectWait(
  tx: Tx,
  { actor, runId, reason }: Decision,
  { step_key, node_id, name }: WaitingStep,
): Promise<void> {
  await rejectSignInWait(tx, { run_id: runId, step_key }, actor.name);
  await recordAudit(tx, actor, {
    // Not a decision about a gate, which evidence would have to contain.
    action: 'reject_wait',
    targetType: 'run',
    targetId: runId,
    details: withoutNulls({
      ...{ node_id, step_key, reason: reason || null, connection: name },
      signed_in: actor.signedIn,
    }) as JsonObject,
  });
}
