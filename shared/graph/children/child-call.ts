import type { GraphNode } from '#shared/contract/workflows/graph.ts';
import type { AgentPart, RehearsalRules, PendingWrites } from '#shared/graph/call-parts.ts';
import type { JsonObject } from '#shared/json.ts';
import type { ErrorKind } from '#shared/graph/caught-error.ts';

/** A step that waits for a run of its own, its child: that of a node, or a call of an agent. */
export interface ChildPlace {
  run_id: string;
  workspace_id: string;
  /** The workflow of the run. */
  workflow_id: string;
  step_key: string;
  node_id: string;
  label: string;
  iteration: number[];
  /** Null for a call of an agent. */
  output_key: string | null;
  /** From 1. Each further attempt, after a failure or a resume, resumes the child that the first one started. */
  attempt: number;
  retry?: NonNullable<GraphNode['retry']>;
  /** For a call of an agent with tools. */
  agent?: AgentPart & { call: number };
}

export interface ChildCall extends ChildPlace, PendingWrites {
  /** Id or name. */
  workflow: string;
  version?: number;
  /** Empty for a call of an agent: the ledger has its arguments. */
  input: JsonObject;
  /** For a step of a rehearsal. */
  rehearsal?: RehearsalRules;
  /** For a step of a fork: it may have its result in the forked run. */
  reuses?: true;
}

/** `gone`: the run does not accept the work of this execution. The output of an agent's call stays in the ledger. */
export type ChildReport =
  | { state: 'running' | 'paused' | 'gone' }
  | { state: 'success'; output: JsonObject }
  /** With `retry_ms`, there is another attempt after this time. */
  | { state: 'failed'; error: string; attempts: number; kind?: ErrorKind; retry_ms?: number }
  /** The call of an agent has failed, and its model gets the error. */
  | { state: 'reported' }
  /** A cap or a budget has stopped it: never caught. */
  | { state: 'stopped'; error: string; evidence: JsonObject }
  /** It has no record, and may not be started in a rehearsal: never caught. */
  | { state: 'unrecorded'; error: string };
