import { requireOpenGate } from '../../db/gates/checks.ts';
import { findRuledGate } from '../../db/gates/ruled-gates.ts';
import type { Pool } from '../../db/pool.ts';
import { AppError } from '../../errors.ts';
import { requireGateInput } from '../runs/ruled-gates.ts';
import { bindDecision, type RequestedDecision } from '../runs/tool-calls.ts';

/**
 * Throws what `decideGate` would throw for the same decision, and changes nothing: a refusal is not in the audit log,
 * because no one has tried to decide.
 */
export async function checkDecision(db: Pool, requested: RequestedDecision): Promise<void> {
  const decision = await bindDecision(db, requested);
  await requireOpenGate(db, decision);
  const gate = await findRuledGate(db, decision);
  if (gate?.status !== 'open') return;
  if (gate.refusal !== undefined) throw new AppError('forbidden', gate.refusal);
  await requireGateInput(decision, gate);
}
