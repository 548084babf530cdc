import type { NodeRetry } from '#shared/contract/workflows/node-common.ts';
import type { AgentPart, RehearsalRules, PendingWrites } from '#shared/graph/call-parts.ts';
import type { JsonObject } from '#shared/json.ts';
import type { AskingStep } from '#shared/graph/gates/gate-opening.ts';
import type { ErrorKind } from '#shared/graph/caught-error.ts';

/** A step that waits for a child: a node, or a call of an agent. */
export interface ChildPlace {
  run_id: string;
  workspace_id: string;
  /** The workflow of the parent run. */
  workflow_id: string;
  step_key: string;
  node_id: string;
  label: string;
  iteration: number[];
  /** Null for a call of an agent. */
  output_key: string | null;
  /** From 1. The first attempt starts the child; each later attempt, after a failure or resume, resumes it. */
  attempt: number;
  retry?: NodeRetry;
  /** For a call of an agent with tools. */
  agent?: AgentPart & { call: number };
}

export interface ChildCall extends ChildPlace, PendingWrites {
  /** Id or name. */
  workflow: string;
  version?: number;
  /** Empty for a call of an agent, whose arguments are in the ledger. */
  input: JsonObject;
  /** For a step of a rehearsal. */
  rehearsal?: RehearsalRules;
  /** For a step of a fork: it may reuse its result in the forked run. */
  reuses?: true;
  /** As in a StepCall. */
  bound?: true;
  asks?: true;
}

/** `gone`: the run does not accept work from this execution. The output of an agent's call stays in the ledger. */
export type ChildReport =
  | { state: 'running' | 'paused' | 'gone' }
  | { state: 'success'; output: JsonObject }
  /** With `retry_ms`, another attempt follows after this time. */
  | { state: 'failed'; error: string; attempts: number; kind?: ErrorKind; retry_ms?: number }
  /** A person must approve it first. */
  | { state: 'asks'; ask: AskingStep }
  /** The agent's call has failed, and its model gets the error. */
  | { state: 'reported' }
  /** A cap or a budget stopped it. This is never caught. */
  | { state: 'stopped'; error: string; evidence: JsonObject }
  /** It has no recorded result, and a rehearsal must not start it. This is never caught. */
  | { state: 'unrecorded'; error: string };
