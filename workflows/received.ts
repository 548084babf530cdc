import { ApplicationFailure } from '@temporalio/workflow';
import { type GateDecision, withoutNulls } from '#shared/graph/gates/gate-decision.ts';

/**
 * Checks data that an execution gets from outside: its input and its signals. Anyone with access to Temporal can send
 * them, and an error caused by a malformed one would fail the workflow task forever. It does not use zod, which would
 * enlarge the workflow bundle.
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

const decisionFields = {
  step_key: isText,
  round: (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 1,
  approved: (value) => typeof value === 'boolean',
  input: optional(isObject),
  reason: optional((value) => typeof value === 'string'),
  timed_out: optional((value) => value === 'fail'),
} satisfies Record<keyof GateDecision, Check>;

/** The decision in a signal, without other fields; undefined if there is none. */
export function readDecision(value: unknown): GateDecision | undefined {
  if (!isObject(value) || !hasFields(decisionFields)(value)) return undefined;
  const fields = Object.keys(decisionFields).map((name) => [name, value[name]]);
  return withoutNulls(Object.fromEntries(fields) as GateDecision) as GateDecision;
}

/** The step that a signal `child` or `waited` is about; undefined if it is malformed. */
export const readStepSignal = (value: unknown): string | undefined =>
  isObject(value) && isText(value['step_key']) ? (value['step_key'] as string) : undefined;

/** The decisions in a signal `resumed`, with undefined for each invalid one. Undefined if the signal is malformed. */
export function readResumed(value: unknown): (GateDecision | undefined)[] | undefined {
  if (!isObject(value) || !Array.isArray(value['decisions'])) return undefined;
  return value['decisions'].map(readDecision);
}
