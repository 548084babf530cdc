import type { Decision } from '#shared/db/gates/decision.ts';
import { judgeDecision } from '#shared/db/gates/decisions.ts';
import type { GateToDecide } from '#shared/db/gates/gate-to-decide.ts';
import type { Pool } from '#shared/db/pool.ts';
import { AppError } from '#shared/errors.ts';
import { bindDecision, type RequestedDecision } from '#shared/operations/runs/tool-calls.ts';
import { refusedInput } from '#shared/operations/workflows/workflow-input.ts';

/** Throws what `decideGate` would throw for the same decision. Changes nothing. */
export async function checkDecision(db: Pool, requested: RequestedDecision): Promise<void> {
  const decision = await bindDecision(db, requested);
  const judged = await judgeDecision(db, decision);
  if (judged.outcome === 'refused') throw new AppError('forbidden', judged.reason);
  if (judged.outcome === 'unchecked') await requireFittingInput(decision, judged.gate);
}

/**
 * Requires an input that is valid for the gate's form. Throws AppError `input_invalid` with the paths, WorkBusyError.
 * The schema comes from a tenant, so it is checked on a work thread, while no transaction is open.
 */
export async function requireFittingInput(
  { actor, input }: Decision,
  { settings }: GateToDecide,
): Promise<void> {
  const schema = settings?.input_schema;
  if (schema === undefined) return;
  const refusal = await refusedInput(actor.workspaceId, schema, input ?? {}, 'gate');
  if (refusal !== undefined) throw refusal;
}
