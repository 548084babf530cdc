import { ApplicationFailure } from '@temporalio/workflow';
import type { GateDecision } from '../shared/execution.ts';
import type { JsonObject } from '../shared/json.ts';

/**
 * Checks data that reaches an execution from outside: its input and its signals. Anyone with access to Temporal can
 * send them, and an error over a malformed one would fail the workflow task forever. Not with zod, which would enlarge
 * the workflow bundle.
 */

type Check = (value: unknown) => boolean;

export const isText: Check = (value) => typeof value === 'string' && value !== '';
export const isAmount: Check = (value) =>
  typeof value === 'number' && Number.isFinite(value) && value >= 0;
export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
export const isListOf =
  (item: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(item);
export const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || value === null || check(value);
export const hasFields =
  (fields: Record<string, Check>): Check =>
  (value) =>
    isObject(value) && Object.entries(fields).every(([name, check]) => check(value[name]));

/** Fails the execution, without a retry, unless its input has the expected type. */
export function requireInput(
  workflow: string,
  fields: Record<string, Check>,
  input: unknown,
): void {
  if (!isObject(input)) {
    throw ApplicationFailure.nonRetryable(`The input of ${workflow} must be an object`, MALFORMED);
  }
  for (const [name, check] of Object.entries(fields)) {
    if (check(input[name])) continue;
    throw ApplicationFailure.nonRetryable(
      `The input of ${workflow} has no valid ${name}; start it through the API`,
      MALFORMED,
    );
  }
}

const MALFORMED = 'MalformedInput';

/** The decision of a signal, without other fields; undefined when it has none. */
export function readDecision(value: unknown): GateDecision | undefined {
  if (!isObject(value)) return undefined;
  const { step_key, round, approved, input, reason } = value;
  if (typeof step_key !== 'string' || step_key === '') return undefined;
  if (typeof round !== 'number' || !Number.isSafeInteger(round) || round < 1) return undefined;
  if (typeof approved !== 'boolean') return undefined;
  if (input != null && !isObject(input)) return undefined;
  if (reason != null && typeof reason !== 'string') return undefined;
  return {
    step_key,
    round,
    approved,
    ...(input == null ? {} : { input: input as JsonObject }),
    ...(reason == null ? {} : { reason }),
  };
}

/** The decisions of a signal `resumed`, with undefined for each invalid one. Undefined when the signal is malformed. */
export function readResumed(value: unknown): (GateDecision | undefined)[] | undefined {
  if (!isObject(value) || !Array.isArray(value['decisions'])) return undefined;
  return value['decisions'].map(readDecision);
}
