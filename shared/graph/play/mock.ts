import type { ErrorKind } from '#shared/graph/caught-error.ts';
import type { JsonObject } from '#shared/json.ts';

/** What a mock answers: JSON, an Error, `attempts(...)` or `after(...)`. An `undefined` counts as null. */
export type MockValue = null | undefined | boolean | number | string | object;

/** The step that calls a mock. */
export interface MockCall {
  node_id: string;
  step_key: string;
  /** Iterations of the loops and maps around it, from 1, outermost first. */
  iteration: number[];
  /** From 1. */
  attempt: number;
  /** For a call of a tool: its name. */
  tool?: string;
  /** A copy of the state that the step sees. */
  readonly state: JsonObject;
}

/**
 * The result of a node or a tool, or a function of its arguments: the parameters of a tool, the prompts of an agent, the
 * state for code, the input for a workflow. It fails the attempt if it is, returns or throws an Error.
 */
export type Mock =
  | MockValue
  | ((args: JsonObject, call: MockCall) => MockValue | Promise<MockValue>);

/** An Error with these fields decides what follows. Without them, it is retried as the node says. */
export interface FailureFields {
  /** The default is `node`. */
  error_kind?: ErrorKind;
  /** False: no further attempt follows. */
  retryable?: boolean;
  /** The least time until the next attempt. */
  retry_after_seconds?: number;
}

// Registered, since the package can be loaded both as an ES module and as CommonJS.
const ATTEMPTS = Symbol.for('durable-workflows.attempts');
const AFTER = Symbol.for('durable-workflows.after');

interface Attempts {
  [ATTEMPTS]: readonly Mock[];
}

interface After {
  [AFTER]: { seconds: number; mock: Mock };
}

/** A mock whose attempts fail with this message. */
export const failure = (message: string, fields: FailureFields = {}): Error =>
  Object.assign(new Error(message), fields);

/** A mock for each attempt of a step. The last one answers all further attempts. */
export const attempts = (...mocks: readonly Mock[]): object =>
  ({ [ATTEMPTS]: mocks }) satisfies Attempts;

/** A mock that answers after so many seconds of the virtual clock. */
export const after = (seconds: number, mock: Mock): object =>
  ({ [AFTER]: { seconds, mock } }) satisfies After;

const isRecord = (value: unknown): value is Record<PropertyKey, unknown> =>
  typeof value === 'object' && value !== null;

export const attemptsIn = (value: unknown): readonly Mock[] | undefined =>
  isRecord(value) && ATTEMPTS in value ? (value as unknown as Attempts)[ATTEMPTS] : undefined;

export const afterIn = (value: unknown): After[typeof AFTER] | undefined =>
  isRecord(value) && AFTER in value ? (value as unknown as After)[AFTER] : undefined;

/** Whether a value is an object with only this key. */
export const hasOnly = <Key extends string>(
  value: unknown,
  key: Key,
): value is Record<Key, unknown> => isRecord(value) && Object.keys(value).join() === key;

/** The turns of a mocked agent, if it is mocked turn by turn. */
export const scriptIn = (mock: unknown): readonly unknown[] | undefined =>
  hasOnly(mock, 'turns') && Array.isArray(mock.turns) ? mock.turns : undefined;
