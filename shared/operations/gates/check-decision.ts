import type { DryRunDeps } from '#shared/operations/workflows/dry-run.ts';
import { findConsequences } from './consequences.ts';
import type { Decision, Shown, ShownFor } from '#shared/db/gates/decision.ts';
import { judgeDecision, type Unprepared } from '#shared/db/gates/decisions.ts';
import type { RecheckDeps } from './gate-reads.ts';
import { recheckGate } from './recheck.ts';
import type { GateToDecide } from '#shared/db/gates/gate-to-decide.ts';
import { findShown, readConsequences, readLastDecisions } from '#shared/db/gates/shown.ts';
import type { Pool } from '#shared/db/pool.ts';
import { AppError } from '#shared/errors.ts';
import { askedStep } from '#shared/graph/gates/gate-opening.ts';
import { requireOwnAccounts } from '#shared/operations/connections/used.ts';
import { bindDecision, type RequestedDecision } from '#shared/operations/runs/tool-calls.ts';
import { refusedInput } from '#shared/operations/workflows/workflow-input.ts';

/**
 * Throws what `decideGate` would throw for the same decision, apart from what a recheck would find: a check repeats
 * nothing. Changes nothing. Returns what the gate sets in motion with its input, if it is known.
 */
export async function checkDecision(
  deps: DryRunDeps & { db: Pool },
  requested: RequestedDecision,
): Promise<Shown | undefined> {
  await requireOwnAccounts(deps, requested);
  for (let next = await bindDecision(deps.db, requested); ;) {
    const judged = await judgeDecision(deps.db, next);
    if (judged.outcome === 'refused') throw new AppError('forbidden', judged.reason);
    if (judged.outcome === 'unchecked' || judged.outcome === 'unshown') {
      next = await prepared(deps, next, judged);
      continue;
    }
    if (judged.outcome === 'open' || judged.outcome === 'waits') return undefined;
    return next.shown ?? findShown(deps.db, { runId: next.runId, ...judged.gate });
  }
}

/** The decision with what was missing. Throws AppError `input_invalid` for an input that does not fit, WorkBusyError. */
export async function prepared(
  deps: DryRunDeps,
  decision: Decision,
  { outcome, gate }: Unprepared,
): Promise<Decision> {
  const { step_key } = gate;
  const next = { ...decision, stepKey: step_key };
  if (outcome === 'unshown') return { ...next, shown: await shownFor(deps, decision, gate) };
  await requireFittingInput(decision, gate);
  return { ...next, checked: step_key };
}

/** The decision after the reads that its gate depends on were repeated. */
export async function rechecked(
  deps: RecheckDeps,
  decision: Decision,
  { step_key, round, node_id, settings, digest }: GateToDecide,
): Promise<Decision> {
  const { actor, runId, shown } = decision;
  const place = { runId, step_key, round, node_id };
  const consequences = shown?.consequences ?? (await readConsequences(deps.db, place));
  const basis = { consequences, digest: shown?.digest ?? digest };
  const id = await recheckGate(deps, { ...place, actor, settings, ...basis });
  // The gate was decided in the meantime: the statement that decides says so.
  return { ...decision, stepKey: step_key, rechecked: id ?? '' };
}

/** What the gate sets in motion with the input of the decision, after that of earlier ones. */
async function shownFor(
  deps: DryRunDeps,
  { runId, input }: Decision,
  gate: GateToDecide,
): Promise<ShownFor> {
  const { step_key, round, prompt, title, votes, situation, digest, settings } = gate;
  if (situation === null || digest === null) throw new Error(`gate ${step_key} shows nothing`);
  const isGate = gate.kind === 'human_gate';
  const given = isGate
    ? { input: { ...gate.input, ...input } }
    : { on_timeout: settings?.on_timeout };
  const gates = [{ step_key, at: askedStep(step_key), round, prompt, title, ...given }];
  const decided = await readLastDecisions(deps.db, { runId, step_key, round });
  const [found] = await findConsequences(deps, runId, { gates, situation, decided });
  if (found === undefined) throw new Error(`what gate ${step_key} sets in motion is not known`);
  const { consequences, items, digest: own } = found;
  const basis = { basis: digest, votes: votes.length, last: gate.last_decision };
  // The digest of a call covers the call.
  return { step_key, ...basis, digest: isGate ? own : digest, consequences, items };
}

/**
 * Requires an input that is valid for the gate's form. Throws AppError `input_invalid` with the paths, WorkBusyError.
 * The schema comes from a tenant, so it is checked on a work thread, while no transaction is open.
 */
async function requireFittingInput(
  { actor, input }: Decision,
  { settings }: GateToDecide,
): Promise<void> {
  const schema = settings?.input_schema;
  if (schema === undefined) return;
  const refusal = await refusedInput(actor.workspaceId, schema, input ?? {}, 'gate');
  if (refusal !== undefined) throw refusal;
}
