import { isDeepStrictEqual } from 'node:util';
import type { Step } from '#shared/contract/steps/step.ts';
import type { JsonObject } from '#shared/json.ts';
import { differences } from '#test/graph/generated/compare.ts';
import type { ReferenceRun } from '#test/graph/generated/reference.ts';
import {
  comparable,
  comparableStep,
  type Played,
  type PlayedField,
  type PlayedStep,
} from '#test/support/played.ts';

/** What a comparison has seen, so that a test can require that it was not empty. */
export interface Compared {
  problems: string[];
  /** The steps whose fields were compared. */
  steps: number;
  /** Whether state and output were compared. */
  whole: boolean;
}

/**
 * The differences between a run on the service and the same one in the process. What the order of parallel steps
 * decides can differ: then each must agree with the reference, and here only the other parts are compared. A run that
 * fails stops its other steps, which can be anywhere at that time.
 */
export function compareWithPlay(
  service: Played,
  played: Played,
  reference: ReferenceRun,
): Compared {
  const problems: string[] = [];
  const differ = (about: string, one: unknown, other: unknown): void => {
    if (isDeepStrictEqual(one, other)) return;
    problems.push(`${about} is ${text(other)} in the process, and ${text(one)} on the service`);
  };
  problems.push(...againstReference(played, reference));
  differ('status', service.status, played.status);
  const [mine, theirs] = [stepsOf(service), stepsOf(played)];
  let steps = 0;
  for (const key of new Set([...mine.keys(), ...theirs.keys()])) {
    const [one, other] = [mine.get(key), theirs.get(key)];
    if (one === undefined || other === undefined) {
      const missing = one === undefined ? 'on the service' : 'in the process';
      if (isCertain(reference, one ?? other!)) problems.push(`${key} is missing ${missing}`);
      continue;
    }
    if (one.status !== other.status && !isCertain(reference, one)) continue;
    steps += 1;
    for (const field of fieldsOf(one, reference)) {
      differ(`${field} of ${key}`, comparableStep(one)[field], comparableStep(other)[field]);
    }
  }
  const causes = reference.failed ? failuresOf(service) : new Set<string>();
  const sameFailure = causes.size <= 1 && isDeepStrictEqual(causes, failuresOf(played));
  if (!reference.failed || sameFailure) {
    differ('error', service.error, played.error);
    differ('failure', service.failure, played.failure);
  }
  const whole = !reference.ambiguous && sameEnds(mine, theirs);
  if (whole) {
    differ('state', stateOf(service, reference), stateOf(played, reference));
    differ('output', comparable(service.output), comparable(played.output));
  }
  return { problems, steps, whole };
}

const text = (value: unknown): string => JSON.stringify(value) ?? 'undefined';

/** A cancelled step was stopped because the run, or the item around it, has failed. */
const stepsOf = ({ steps }: Played): Map<string, PlayedStep> =>
  new Map(
    steps.filter(({ status }) => status !== 'cancelled').map((step) => [step.step_key, step]),
  );

/** Of a failed run, only what a single node writes: a step that was stopped may have written the other keys before. */
function stateOf({ state }: Played, { failed }: ReferenceRun): JsonObject {
  const written = Object.entries(comparable(state) as JsonObject);
  return Object.fromEntries(written.filter(([key]) => !failed || /^n\d+$/.test(key)));
}

function againstReference(played: Played, reference: ReferenceRun): string[] {
  const own = [...stepsOf(played).values()].filter((step) => step.parent_step_key === undefined);
  const found = differences(
    {
      failed: played.status === 'failed',
      steps: new Map(own.map(({ step_key, status }) => [step_key, status])),
      state: comparable(played.state) as JsonObject,
      output: comparable(played.output) as JsonObject,
    },
    reference,
  );
  return found.map((difference) => `in the process, ${difference}`);
}

/** Turns and calls of an agent are as certain as their agent. */
const isCertain = (reference: ReferenceRun, { step_key, parent_step_key }: PlayedStep): boolean =>
  reference.steps.get(parent_step_key ?? step_key)?.certain === true;

const always: readonly PlayedField[] = ['node_id', 'label', 'kind', 'status', 'attempt'];
const origin: readonly PlayedField[] = ['iteration', 'parent_step_key', 'turn', 'tool_call'];
const results: readonly PlayedField[] = ['output', 'error', 'error_kind', 'caught', 'decision'];

function fieldsOf({ kind, status }: PlayedStep, { ambiguous }: ReferenceRun): PlayedField[] {
  const known = [...always, ...origin];
  if (ambiguous || status === 'running') return known;
  // Agents get the whole state: also what was set beside them in the meantime.
  return [...known, ...results, 'attempts', ...(kind === 'agent' ? [] : (['input'] as const))];
}

/** The steps that have failed the run. */
const failuresOf = (run: Played): Set<string> =>
  new Set(
    [...stepsOf(run).values()]
      .filter(({ status, caught, kind }) => status === 'failed' && caught !== true && !holds(kind))
      .map(({ step_key }) => step_key),
  );

/** Loops and maps fail with their bodies. */
const holds = (kind: Step['kind']): boolean => kind === 'loop' || kind === 'map';

const sameEnds = (one: Map<string, PlayedStep>, other: Map<string, PlayedStep>): boolean =>
  one.size === other.size &&
  [...one].every(([key, { status }]) => other.get(key)?.status === status);
