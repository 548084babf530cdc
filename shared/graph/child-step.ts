import type { GraphNode } from '../contract/graph.ts';
import type { PendingWrites } from '../execution.ts';
import type { JsonObject } from '../json.ts';

/** A step that waits for a run of its own, its child. */
export interface ChildPlace {
  run_id: string;
  step_key: string;
  node_id: string;
  label: string;
  iteration: number[];
  output_key: string;
  /** From 1. Each further attempt, after a failure or a resume, resumes the child that the first one started. */
  attempt: number;
  retry?: NonNullable<GraphNode['retry']>;
}

export interface ChildCall extends ChildPlace, PendingWrites {
  /** Id or name. */
  workflow: string;
  version?: number;
  input: JsonObject;
}

/** `gone`: the run does not accept the work of this execution. */
export type ChildReport =
  | { state: 'running' | 'paused' | 'gone' }
  | { state: 'success'; output: JsonObject }
  /** With `retry_ms`, there is another attempt after this time. */
  | { state: 'failed'; error: string; attempts: number; retry_ms?: number }
  /** A cap or a budget has stopped it: never caught. */
  | { state: 'stopped'; error: string; evidence: JsonObject };

export interface ChildSignal {
  /** The step whose child has ended or paused. */
  step_key: string;
}
