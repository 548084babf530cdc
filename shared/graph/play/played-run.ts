import type { ErrorKind } from '#shared/graph/caught-error.ts';
import type { Json, JsonObject } from '#shared/json.ts';

/** An open gate, with the names that the service uses. */
export interface OpenGate {
  kind: 'human_gate' | 'tool_call';
  node_id: string;
  step_key: string;
  label: string;
  title: string;
  prompt: string;
  /** Iterations of the loops and maps around it, from 1, outermost first. */
  iteration: number[];
  /** How often this step has asked, from 1. */
  round: number;
  since: string;
  /** The deadline. */
  timeout_at?: string;
  on_timeout?: 'reject' | 'approve' | 'fail';
  /** The form. */
  input_schema?: JsonObject;
  /** For a gate in a sub-workflow: its name in `workflows`. */
  workflow?: string;
  /** For kind `tool_call`. */
  tool_call?: { tool: string; arguments: JsonObject; digest: string };
}

/** A step that waits. */
export interface OpenWait {
  node_id: string;
  step_key: string;
  label: string;
  for: 'time' | 'event' | 'callback';
  /** The names of the events. */
  events: string[];
  since: string;
  until: string | null;
  /** For a wait in a sub-workflow: its name in `workflows`. */
  workflow?: string;
}

/** The kinds of nodes. Written out, so that the types of the package need no other package. */
type StepKind =
  | 'agent'
  | 'tool'
  | 'code'
  | 'condition'
  | 'loop'
  | 'map'
  | 'workflow'
  | 'human_gate'
  | 'wait'
  | 'merge';

export interface PlayedAttempt {
  attempt: number;
  /** Null while it is running or waits. */
  outcome: 'success' | 'failed' | 'cancelled' | null;
  started_at: string;
  finished_at: string | null;
  duration_ms: number | null;
  error: string | null;
}

/** A step, with the names that the service uses. */
export interface PlayedStep {
  step_key: string;
  node_id: string;
  label: string;
  kind: StepKind;
  iteration: number[];
  /** `running`: it still waits. `paused`: at its gate. */
  status: 'running' | 'success' | 'failed' | 'paused' | 'skipped' | 'cancelled';
  /** The number of attempts. */
  attempt: number;
  attempts: PlayedAttempt[];
  started_at: string;
  finished_at: string | null;
  duration_ms: number | null;
  input: Json;
  output: Json;
  error: string | null;
  error_kind?: ErrorKind;
  /** It has failed, and its error edges were taken. */
  caught?: boolean;
  decision?: {
    approved: boolean;
    reason: string | null;
    timed_out?: 'reject' | 'approve' | 'fail';
  };
  /** For a turn or a call of an agent with tools. */
  parent_step_key?: string;
  turn?: number;
  tool_call?: { tool: string; index: number };
  /** For a sub-workflow that was played: its run. */
  child?: PlayedRun;
}

/** How the checks of a workflow have scored a run. */
export interface PlayedEvals {
  passed: number;
  total: number;
  results: {
    name: string;
    type: string;
    passed: boolean;
    actual: Json;
    expected: Json;
    message?: string | undefined;
  }[];
}

/** What a run did. Its fields have the names of `GET /api/runs/{id}`. */
export interface PlayedRun {
  /** `paused`: a gate is open. `running`: only waits are open, and nothing that they wait for was given. */
  status: 'success' | 'failed' | 'paused' | 'running';
  /** The outputs of the last nodes; null until then. */
  output: JsonObject | null;
  /** The state at the end, or as far as the run came. */
  state: JsonObject;
  /** In the order of their starts. */
  steps: PlayedStep[];
  gates: OpenGate[];
  waits: OpenWait[];
  error: string | null;
  failure: { kind: 'node' | 'rejected'; node_id: string } | null;
  /** The results of the checks of the workflow; null without a check, and for a run that did not succeed. */
  evals: PlayedEvals | null;
  /** Active time: without waits for decisions, times, events and callbacks. */
  duration_ms: number;
  /** Time in which the run did nothing but wait. */
  waiting_ms: number;
  started_at: string;
  finished_at: string | null;
}
