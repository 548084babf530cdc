import type { Actor } from '#shared/people/actor.ts';
import type { GateAnswer, GateChoice } from '#shared/graph/gates/gate-decision.ts';
import type { JsonObject } from '#shared/json.ts';

export interface Decision extends GateChoice, GateAnswer {
  actor: Actor;
  runId: string;
  /** Required for a tool call: the digest that the approver saw. */
  digest?: string;
  /** The call as the approver changed it. */
  changed?: { arguments: JsonObject; digest: string };
  /** The step key of the gate whose form the input was validated against. */
  checked?: string;
}
