import type { Run, Step } from '#client/index.ts';
import { differencesOf, type JsonDifference } from '#shared/graph/json-differences.ts';
import type { Json } from '#shared/json.ts';

/** One step of two runs, by its key; undefined in a run that did not reach it. */
export interface ComparedStep {
  key: string;
  left: Step | undefined;
  right: Step | undefined;
  /** Whether both ended with the same result. */
  output: 'same' | 'differs' | 'left only' | 'right only';
  /** Whether anything differs except times and costs. */
  differs: boolean;
}

/**
 * The steps of two runs, in the order of the left one. Those that only the right one has follow the step that precedes
 * them there.
 */
export function comparedSteps(left: readonly Step[], right: readonly Step[]): ComparedStep[] {
  const byKey = new Map(right.map((step) => [step.step_key, step]));
  const known = new Set(left.map(({ step_key: key }) => key));
  const added = new Map<string | undefined, Step[]>();
  let before: string | undefined;
  for (const step of right) {
    if (known.has(step.step_key)) before = step.step_key;
    else added.set(before, [...(added.get(before) ?? []), step]);
  }
  const only = (at: string | undefined): ComparedStep[] =>
    (added.get(at) ?? []).map((step) => compared(undefined, step));
  return [
    ...only(undefined),
    ...left.flatMap((step) => [compared(step, byKey.get(step.step_key)), ...only(step.step_key)]),
  ];
}

function compared(left: Step | undefined, right: Step | undefined): ComparedStep {
  const key = left?.step_key ?? right?.step_key ?? '';
  if (left === undefined || right === undefined) {
    const output = left === undefined ? 'right only' : 'left only';
    return { key, left, right, output, differs: true };
  }
  const output = isSame(resultOf(left), resultOf(right)) ? 'same' : 'differs';
  return { key, left, right, output, differs: output !== 'same' || left.status !== right.status };
}

/** The result of a step: its output or its error. */
export const resultOf = ({ output, error }: Pick<Step, 'output' | 'error'>): Json =>
  (error ?? output) as Json;

const isSame = (left: Json, right: Json): boolean => firstDifferences(left, right, 1).length === 0;

/** The first differences between two values, at most `most`. */
export function firstDifferences(left: Json, right: Json, most: number): JsonDifference[] {
  const found: JsonDifference[] = [];
  for (const difference of differencesOf(left, right)) {
    if (found.push(difference) === most) break;
  }
  return found;
}

/** `+1.2 s` with a format for the number; undefined if one is unknown or they are equal. */
export function deltaText(
  left: number | null | undefined,
  right: number | null | undefined,
  text: (size: number) => string,
): string | undefined {
  if (left == null || right == null || left === right) return undefined;
  return `${right > left ? '+' : '−'}${text(Math.abs(right - left))}`;
}

/** Whether a run has steps that its record, and so the comparison, does not contain. */
export const isCut = ({ steps_next_cursor: next }: Pick<Run, 'steps_next_cursor'>): boolean =>
  next !== null;
