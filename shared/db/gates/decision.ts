import type { Actor } from '../../actor.ts';
import type { GateAnswer, GateChoice } from '../../gate-decision.ts';
import type { JsonObject } from '../../json.ts';
import type { OutboxRow } from '../runs/outbox.ts';

export interface Decision extends GateChoice, GateAnswer {
  actor: Actor;
  runId: string;
  /** Required for a tool call: the digest that was shown. */
  digest?: string;
  /** The call as the approver changed it. */
  changed?: { arguments: JsonObject; digest: string };
}

export interface Decided {
  row: OutboxRow;
  /** Whether the decision can be sent to Temporal now: no start, cancel or resume of the run is queued before it. */
  first: boolean;
}
