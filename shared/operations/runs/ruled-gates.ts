import type { Decided, Decision } from '../../db/gates/decision.ts';
import { findRuledGate, type RuledGate } from '../../db/gates/ruled-gates.ts';
import { recordRefusedDecision, voteAtGate } from '../../db/gates/votes.ts';
import type { Pool } from '../../db/pool.ts';
import { AppError } from '../../errors.ts';
import { refusedInput } from '../workflow-input.ts';

/**
 * One person's decision at a gate with settings; undefined when the gate stays open, because more approvals are needed
 * or the member has approved it before. Throws AppError `not_found`, `conflict`, `input_invalid` for an input that does not
 * fit the gate's schema, and `forbidden`, which is recorded in the audit log, for someone who cannot decide it.
 */
export async function decideRuledGate(db: Pool, decision: Decision): Promise<Decided | undefined> {
  const gate = await findRuledGate(db, decision);
  const open = gate?.status === 'open';
  if (open) {
    if (gate.refusal !== undefined) {
      await recordRefusedDecision(db, decision, gate);
      throw new AppError('forbidden', gate.refusal);
    }
    await requireGateInput(decision, gate);
  }
  const pinned = open ? { ...decision, stepKey: gate.step_key } : decision;
  const vote = await voteAtGate(db, pinned);
  if (vote.outcome === 'refused') throw new AppError('forbidden', vote.refusal);
  return vote.outcome === 'decided' ? vote.decided : undefined;
}

/** An approval needs the input that the gate asks for. A rejection needs none, but what it has must fit. */
export async function requireGateInput(
  { actor, approved, input }: Decision,
  { settings: { input_schema: schema } }: RuledGate,
): Promise<void> {
  if (schema === undefined || (!approved && input === undefined)) return;
  const refusal = await refusedInput(actor.workspaceId, schema, input ?? {}, 'gate');
  if (refusal !== undefined) throw refusal;
}
