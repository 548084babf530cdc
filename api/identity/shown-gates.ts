import type { LineOf } from '#shared/contract/evidence/evidence.ts';
import type { GateConsequences } from '#shared/contract/gates/consequences.ts';
import type { Actor } from '#shared/people/actor.ts';
import { holds } from '#shared/people/capabilities.ts';
import type { Gate, GateVote } from '#shared/contract/gates/gate.ts';
import type { RecheckDifference, Stale } from '#shared/contract/gates/recheck.ts';
import type { PendingGate } from '#shared/contract/gates/pending-gate.ts';
import type { Run } from '#shared/contract/runs/run.ts';
import type { Step } from '#shared/contract/steps/step.ts';
import { isObject } from '#shared/graph/json-value.ts';
import type { Json } from '#shared/json.ts';
import { joined } from '#shared/values/json-text.ts';

/** A caller without a role, such as a webhook, holds no capability. */
type Viewer = Partial<Pick<Actor, 'role' | 'overrides'>>;

/** Whether the caller can see the arguments of tool calls that need approval, which are not redacted. */
export const seesArguments = ({ role, overrides = {} }: Viewer): boolean =>
  role !== undefined && holds(role, overrides, 'approve_gates');

/** The gate as the caller can see it. */
export const shownGate = <Gate extends PendingGate>(actor: Viewer, gate: Gate): Gate =>
  seesArguments(actor)
    ? gate
    : {
        ...gate,
        ...(gate.tool_call === undefined
          ? {}
          : { tool_call: { ...gate.tool_call, arguments: null } }),
        ...(gate.stale === undefined ? {} : { stale: withoutValues(gate.stale) }),
        ...(gate.decisions === undefined ? {} : { decisions: gate.decisions.map(shownVote) }),
      };

const withoutValues = (stale: Stale): Stale => ({
  ...stale,
  differences: stale.differences.map(hidden),
});

const hidden = (difference: RecheckDifference): RecheckDifference => ({
  ...difference,
  before: null,
  now: null,
});

const shownVote = (vote: GateVote): GateVote =>
  vote.accepted_changes === undefined
    ? vote
    : { ...vote, accepted_changes: vote.accepted_changes.map(hidden) };

/** The run with its gates and steps as the caller can see them. */
export function shownRun(actor: Viewer, run: Run): Run {
  if (seesArguments(actor)) return run;
  const pending_gates = run.pending_gates.map((gate) => shownGate(actor, gate));
  const steps = shownSteps(actor, run.steps);
  return joined(run, { steps, pending_gates, pending_gate: pending_gates[0] ?? null });
}

/**
 * Steps as the caller can see them. The output of a turn has the arguments of its calls as the model sent them. Those
 * of a call that needs approval are hidden, as at its gate. Once the call was made, its step has the redacted
 * arguments.
 */
export const shownSteps = (actor: Viewer, steps: Step[]): Step[] =>
  seesArguments(actor) ? steps : steps.map(shownVotes).map(shownTurn);

const shownVotes = (step: Step): Step =>
  step.decisions?.some(({ accepted_changes }) => accepted_changes !== undefined) === true
    ? joined(step, { decisions: step.decisions.map(shownVote) })
    : step;

function shownTurn(step: Step): Step {
  if (step.turn === undefined || step.tool_call !== undefined || !isObject(step.output)) {
    return step;
  }
  const { calls } = step.output;
  if (!Array.isArray(calls)) return step;
  return joined(step, { output: { ...step.output, calls: calls.map(shownCall) } });
}

const shownCall = (call: Json): Json =>
  isObject(call) && call['needs_approval'] === true ? { ...call, arguments: null } : call;

/** One gate with its earlier openings, as the caller can see them. */
export function shownOpenings(actor: Viewer, gate: Gate): Gate {
  if (seesArguments(actor)) return gate;
  const earlier = gate.earlier.map((asking) => ({
    ...asking,
    ...(asking.arguments === undefined ? {} : { arguments: null }),
    ...(asking.decided_arguments === undefined ? {} : { decided_arguments: null }),
  }));
  return {
    ...gate,
    ...(gate.arguments === undefined ? {} : { arguments: null }),
    ...(gate.decided_arguments === undefined ? {} : { decided_arguments: null }),
    consequences: gate.consequences && shownConsequences(gate.consequences),
    digest: null,
    ...(gate.stale === undefined ? {} : { stale: withoutValues(gate.stale) }),
    earlier,
  };
}

/** A gate in the evidence of a run, as the caller can see it. */
export function shownEvidenceGate(actor: Viewer, gate: LineOf<'gate'>): LineOf<'gate'> {
  if (seesArguments(actor)) return gate;
  const { consequences, tool_call: call } = gate;
  return {
    ...gate,
    consequences: consequences && shownConsequences(consequences),
    tool_call: call && { ...call, arguments: null, decided_arguments: null },
    digest: null,
    decided_digest: null,
  };
}

const shownConsequences = ({ approve, reject, timeout }: GateConsequences): GateConsequences => ({
  approve: shownAnswer(approve),
  reject: shownAnswer(reject),
  ...(timeout === undefined ? {} : { timeout: shownAnswer(timeout) }),
});

function shownAnswer(answer: GateConsequences['approve']): GateConsequences['approve'] {
  const effects = answer.effects.map((effect) => ({
    ...effect,
    arguments: null,
    ...(effect.items === undefined ? {} : { items: { ...effect.items, first: [], last: [] } }),
  }));
  return { ...answer, effects };
}
