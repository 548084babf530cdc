import type { Json, JsonObject } from '#shared/json.ts';
import { EITHER, type ReferenceRun } from './reference.ts';

/** What a run of the engine gave. */
export interface Result {
  failed: boolean;
  steps: Map<string, string>;
  state: JsonObject;
  output: JsonObject;
}

/** All differences between a run and the reference; empty when they agree. */
export function differences(run: Result, reference: ReferenceRun): string[] {
  const found = stepDifferences(run.steps, reference);
  if (run.failed !== reference.failed) found.push(`failed is ${run.failed}`);
  if (run.failed) return found;
  for (const part of ['state', 'output'] as const) {
    if (matches(run[part], reference[part])) continue;
    found.push(`${part} is ${JSON.stringify(run[part])}, not ${JSON.stringify(reference[part])}`);
  }
  return found;
}

function stepDifferences(
  steps: Map<string, string>,
  { steps: expected, oneFailed }: ReferenceRun,
): string[] {
  const found: string[] = [];
  for (const [key, { status, certain }] of expected) {
    const actual = steps.get(key);
    if (certain && actual !== status) found.push(`${key} is ${actual}, not ${status}`);
  }
  for (const [key, status] of steps) {
    const step = expected.get(key);
    if (step === undefined) found.push(`${key} is ${status}, but cannot happen`);
    // Loops and maps in a part that was stopped have failed with it.
    else if (status !== step.status && !(status === 'failed' && repeats(step.kind))) {
      found.push(`${key} is ${status}, not ${step.status}`);
    }
  }
  for (const group of oneFailed) {
    if (group.some((key) => steps.get(key) === 'failed')) continue;
    found.push(`none of ${group.join(', ')} has failed`);
  }
  return found;
}

const repeats = (kind: string): boolean => kind === 'loop' || kind === 'map';

/** Deep equality, with EITHER for one of several values and `*` at the end of a text for any end. */
export function matches(actual: Json | undefined, expected: Json | undefined): boolean {
  if (typeof expected === 'string' && expected.endsWith('*')) {
    return typeof actual === 'string' && actual.startsWith(expected.slice(0, -1));
  }
  if (typeof expected !== 'object' || expected === null) return Object.is(actual, expected);
  if (Array.isArray(expected)) {
    return (
      Array.isArray(actual) &&
      actual.length === expected.length &&
      expected.every((value, at) => matches(actual[at], value))
    );
  }
  const choices = expected[EITHER];
  if (Array.isArray(choices)) return choices.some((choice) => matches(actual, choice));
  if (typeof actual !== 'object' || actual === null || Array.isArray(actual)) return false;
  const keys = new Set([...Object.keys(actual), ...Object.keys(expected)]);
  return [...keys].every((key) => matches(actual[key], expected[key]));
}
