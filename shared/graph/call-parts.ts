import type { StoredRehearsal } from '#shared/contract/forks/fork.ts';
import type { ControlStep } from '#shared/graph/schedule/run-state.ts';
import type { JsonObject } from '#shared/json.ts';

/** When a step's result entered the execution's state. */
export interface ObservedStep {
  step_key: string;
  /** The event of the workflow task, for an activity. */
  event_id?: number;
  /** Its place among the results of the run. Absent in histories of 1.0.0. */
  nth?: number;
}

/** The pending writes of every call: control steps and observations. */
export interface PendingWrites {
  run_id: string;
  control: ControlStep[];
  observed: ObservedStep[];
}

/** Which part of an agent with tools a step is: a turn or, with `call`, one of its calls. */
export interface AgentPart {
  /** The step key of the agent. */
  step_key: string;
  /** From 1. */
  turn: number;
  /** For a turn: false when the model must answer. */
  tools?: boolean;
  /** For a turn: the arguments that the node sets, by tool, rendered. */
  fixed?: Record<string, JsonObject>;
  /** For a turn: the part of the state that the approval expressions read. */
  state?: JsonObject;
  /** Its number in the turn, from 1. */
  call?: number;
  tool?: string;
  /** For a call: whether a permanent failure fails the agent, instead of being reported to the model. */
  fails?: boolean;
}

/** How a rehearsal executes a step without a recorded result. */
export type RehearsalRules = Pick<StoredRehearsal, 'allow' | 'failures' | 'pinned'> & {
  /**
   * The gate or approval before the step, as text; null if there is none. Absent in executions from before it was sent:
   * then there may be one.
   */
  guard?: string | null;
};
