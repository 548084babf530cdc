import type { Actor } from '#shared/people/actor.ts';
import type { GateAnswer, GateChoice } from '#shared/graph/gates/gate-decision.ts';
import type { GateConsequences } from '#shared/contract/gates/consequences.ts';
import type { JsonObject } from '#shared/json.ts';

/** What a gate sets in motion. */
export interface Shown {
  digest: string;
  consequences: GateConsequences;
}

/** The digests of items that are not listed one by one, in hexadecimal, by answer and step key. */
export type ShownItems = Record<string, Record<string, string>>;

/** What was computed for an input, and for what. */
export interface ShownFor extends Shown {
  items: ShownItems | null;
  step_key: string;
  /** The digest of the gate at that time, the number of its votes, and when a gate of the run was decided last. */
  basis: string;
  votes: number;
  last: string | null;
}

export interface Decision extends GateChoice, GateAnswer {
  actor: Actor;
  runId: string;
  /** The digest that the approver saw. Required for a tool call. */
  digest?: string;
  /** Whether a gate that has a digest also requires it, because a program passes on the decision. */
  needsDigest?: true;
  /** What a gate sets in motion with the input of this decision. */
  shown?: ShownFor;
  /** The call as the approver changed it. */
  changed?: { arguments: JsonObject; digest: string };
  /** Approves although what the gate shows has changed. Counts for differences that the gate shows already. */
  accept_changes?: boolean | undefined;
  /** The recheck that was made for this decision. */
  rechecked?: string;
  /** The link that the member decides with. */
  link?: { id: string };
  /** The opening that the approver saw: another one is another question, even with the same digest. */
  opening?: { round: number; since: string };
  /** An MCP client has asked its person, and passes on the answer. */
  elicited?: true;
  /** The message in Slack in which the member decides. */
  slack?: { id: string; teamId: string };
  /** The step key of the gate whose form the input was validated against. */
  checked?: string;
}
