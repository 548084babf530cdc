import type { Actor } from '../../shared/actor.ts';
import { holds } from '../../shared/capabilities.ts';
import type { Gate } from '../../shared/contract/gate.ts';
import type { PendingGate, Run } from '../../shared/contract/run.ts';

/** A caller without a role, such as a webhook, holds no capability. */
type Viewer = Partial<Pick<Actor, 'role' | 'overrides'>>;

/** Whether the caller sees the arguments of tool calls that wait for approval: they are not redacted. */
export const seesArguments = ({ role, overrides = {} }: Viewer): boolean =>
  role !== undefined && holds(role, overrides, 'approve_gates');

/** The gate as the caller may see it. */
export const shownGate = <Gate extends PendingGate>(actor: Viewer, gate: Gate): Gate =>
  gate.tool_call === undefined || seesArguments(actor)
    ? gate
    : { ...gate, tool_call: { ...gate.tool_call, arguments: null } };

/** The run with its gates as the caller may see them. */
export function shownRun(actor: Viewer, run: Run): Run {
  if (run.pending_gates.every((gate) => gate.tool_call === undefined)) return run;
  const pending_gates = run.pending_gates.map((gate) => shownGate(actor, gate));
  return { ...run, pending_gates, pending_gate: pending_gates[0] ?? null };
}

/** One gate with its earlier askings, as the caller may see them. */
export function shownAskings(actor: Viewer, gate: Gate): Gate {
  if (seesArguments(actor)) return gate;
  const earlier = gate.earlier.map((asking) => ({
    ...asking,
    ...(asking.arguments === undefined ? {} : { arguments: null }),
    ...(asking.decided_arguments === undefined ? {} : { decided_arguments: null }),
  }));
  return { ...gate, ...(gate.arguments === undefined ? {} : { arguments: null }), earlier };
}
