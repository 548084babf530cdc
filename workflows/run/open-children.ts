import type { FailedStep } from '#shared/execution.ts';
import type { AskingStep } from '#shared/graph/gates/gate-opening.ts';
import type { ChildCall, ChildPlace } from '#shared/graph/children/child-call.ts';
import type { JsonObject } from '#shared/json.ts';

/** `busy`: an activity starts it or reads its state, or it waits for its next attempt. */
export type Phase = 'busy' | 'running' | 'paused';

/** What a child is started for: the step of a node, or a call of an agent. */
export interface ChildWork {
  place: Omit<ChildPlace, 'attempt'>;
  /** Renders the workflow and input that it is started with. Throws TemplateError or ExpressionError. */
  called: () => Pick<ChildCall, 'workflow' | 'version' | 'input'>;
  /** For a node: what the worker must check, and how the step waits for its approval. */
  permission?: (input: JsonObject) => Pick<ChildCall, 'bound' | 'asks'>;
  asks?: (ask: AskingStep) => void;
  succeeded: (output: JsonObject) => void;
  failed: (error: string, reason: FailedStep['reason'], cause: unknown) => void;
}

export interface Child {
  work: ChildWork;
  attempt: number;
  phase: Phase;
}

/** What an execution knows about its run's children, by step key. */
export interface Children {
  open: Map<string, Child>;
  /** The number of children that are running. */
  running: number;
  /** Children that signals were about, whose state must be read. */
  stale: Set<string>;
  /** The last attempt at each step that has not succeeded. */
  attempts: Map<string, number>;
  /** Steps whose attempt began in an earlier execution, and that have not been started in this one. */
  begun: Set<string>;
}

/** `carried`: the attempts at open steps of the execution that this one continues. */
export const createChildren = (carried: Record<string, number> = {}): Children => ({
  open: new Map(),
  running: 0,
  stale: new Set(),
  attempts: new Map(Object.entries(carried)),
  begun: new Set(Object.keys(carried)),
});

export const carriedChildren = ({ open }: Children): Record<string, number> =>
  Object.fromEntries([...open].map(([stepKey, { attempt }]) => [stepKey, attempt]));
