import type { PolicyVerdict } from '#shared/contract/policies/governance.ts';
import type { NodeKind } from '#shared/contract/workflows/graph.ts';
import type { AgentPart, PendingWrites } from '#shared/graph/call-parts.ts';
import type { Json } from '#shared/json.ts';
import type { StepCost } from '#shared/money/spending.ts';

/**
 * The step ledger. The key of a step is `(run_id, step_key)`, never Temporal's run or attempt, so a second attempt
 * finds what the first one stored. Each change is one statement that locks the run's row first: it checks that the run
 * still accepts this execution's work, assigns frame numbers in commit order, and books the cost.
 */
export interface StepBeginning {
  pendingWrites: PendingWrites;
  /** The Temporal run id of the execution. */
  execution: string;
  /** Identifies this attempt. Only the attempt with the claim can finish the step. */
  claim: string;
  claimMs: number;
  stepKey: string;
  nodeId: string;
  label: string;
  kind: NodeKind;
  iteration: readonly number[];
  outputKey: string | null;
  /** For a turn or a call of an agent with tools. A turn has no step frames. */
  agent?: AgentPart | undefined;
  input: Json;
  queuedAt: Date;
  /** The attempt's possible cost, only evaluated where a cap or budget applies. Absent: unknown. */
  cost?: StepCost | (() => Promise<StepCost>);
  /** The policy verdicts for the step, and the policy revision they are based on. */
  judged: {
    workspaceId: string;
    revision: number;
    verdicts: readonly PolicyVerdict[];
    /** The limits that count it. Absent: none, and it has not waited for one. */
    calls?: readonly LimitedCall[];
  };
}

/** A call that a limit of the policies counts. */
export interface LimitedCall {
  /** Identifies the calls that count together. */
  scope: string;
  /** The tool or the model. */
  target: string;
  /** What is shown of the value of the limit's key. */
  key: string | null;
  concurrency: number | null;
  per_minute: number | null;
}
