import type { Run, Step } from '#client/index.ts';
import { differencesOf } from '#shared/graph/json-differences.ts';
import type { Json } from '#shared/json.ts';

/** One step of two runs, by its key; undefined in a run that did not reach it. */
export interface ComparedStep {
  key: string;
  older: Step | undefined;
  newer: Step | undefined;
  /** Whether both ended with the same result. */
  output: 'same' | 'differs' | 'older only' | 'newer only';
  /** Whether anything differs except times and costs. */
  differs: boolean;
}

/**
 * The steps of two runs, in the order of the older one. Those that only the newer one has follow the step that precedes
 * them there.
 */
export function comparedSteps(older: readonly Step[], newer: readonly Step[]): ComparedStep[] {
  const byKey = new Map(newer.map((step) => [step.step_key, step]));
  const known = new Set(older.map(({ step_key: key }) => key));
  const added = new Map<string | undefined, Step[]>();
  let before: string | undefined;
  for (const step of newer) {
    if (known.has(step.step_key)) before = step.step_key;
    else added.set(before, [...(added.get(before) ?? []), step]);
  }
  const only = (at: string | undefined): ComparedStep[] =>
    (added.get(at) ?? []).map((step) => compared(undefined, step));
  return [
    ...only(undefined),
    ...older.flatMap((step) => [compared(step, byKey.get(step.step_key)), ...only(step.step_key)]),
  ];
}

function compared(older: Step | undefined, newer: Step | undefined): ComparedStep {
  const key = older?.step_key ?? newer?.step_key ?? '';
  if (older === undefined || newer === undefined) {
    const output = older === undefined ? 'newer only' : 'older only';
    return { key, older, newer, output, differs: true };
  }
  const output = isSame(resultOf(older), resultOf(newer)) ? 'same' : 'differs';
  return { key, older, newer, output, differs: output !== 'same' || older.status !== newer.status };
}

/** The result of a step: its output or its error. */
export const resultOf = ({ output, error }: Pick<Step, 'output' | 'error'>): Json =>
  (error ?? output) as Json;

const isSame = (older: Json, newer: Json): boolean =>
  differencesOf(older, newer).next().done === true;

/** `+1.2 s` with a format for the number; undefined if one is unknown or they are equal. */
export function deltaText(
  older: number | null | undefined,
  newer: number | null | undefined,
  text: (size: number) => string,
): string | undefined {
  if (older == null || newer == null || older === newer) return undefined;
  return `${newer > older ? '+' : '−'}${text(Math.abs(newer - older))}`;
}

/** Whether a run has steps that its record, and so the comparison, does not contain. */
export const isCut = ({ steps_next_cursor: next }: Pick<Run, 'steps_next_cursor'>): boolean =>
  next !== null;
