import type { EvaluationCheck } from '../../../../../shared/contract/graph.ts';
import { isRecord } from '../../../parts/data/record.ts';

export type CheckType = EvaluationCheck['type'];

/** A check in the form: its value may be missing. */
export interface Check {
  name: string;
  type: CheckType;
  value?: string | number;
  target?: string;
  case_sensitive?: boolean;
}

/** The labels and subject of each check type, in display order. */
export const checkTypes: Record<CheckType, { label: string; value: string; about: Subject }> = {
  contains: { label: 'Text contains', value: 'Expected text', about: 'text' },
  not_contains: {
    label: 'Text does not contain',
    value: 'Forbidden text',
    about: 'text',
  },
  equals: { label: 'Text equals', value: 'Expected text', about: 'text' },
  regex: { label: 'Text matches a pattern', value: 'Pattern (RE2)', about: 'text' },
  max_cost_usd: { label: 'Run cost is at most', value: 'Maximum cost (USD)', about: 'number' },
  max_duration_ms: {
    label: 'Run duration is at most',
    value: 'Maximum duration (ms)',
    about: 'number',
  },
  expression: { label: 'Expression is true', value: 'Expression', about: 'expression' },
};

/** Text checks have a target and a case sensitivity option. */
export type Subject = 'text' | 'number' | 'expression';

export const subjectOf = (type: CheckType): Subject => checkTypes[type].about;

export const newCheck = (number: number): Check => ({
  name: `check ${number}`,
  type: 'contains',
});

/** A stored check, or as much of it as is valid. */
export function checkFrom(saved: unknown): Check {
  if (!isRecord(saved)) return newCheck(1);
  const { name, type, value, target, case_sensitive: sensitive } = saved;
  return {
    name: typeof name === 'string' ? name : '',
    type: isCheckType(type) ? type : 'contains',
    ...((typeof value === 'string' || typeof value === 'number') && { value }),
    ...(typeof target === 'string' && { target }),
    ...(typeof sensitive === 'boolean' && { case_sensitive: sensitive }),
  };
}

const isCheckType = (type: unknown): type is CheckType =>
  typeof type === 'string' && Object.hasOwn(checkTypes, type);

/** The check with another type, without the fields that the new type does not use. */
export function retyped({ name, type: old, value, ...text }: Check, type: CheckType): Check {
  const kept = subjectOf(old) === subjectOf(type) && value !== undefined ? { value } : {};
  return { name, type, ...kept, ...(subjectOf(type) === 'text' && text) };
}

/** What is missing; undefined if the check can be saved. */
export function checkProblem({ name, type, value }: Check): string | undefined {
  if (name.trim() === '') return 'Enter a name';
  if (value === undefined) return 'Enter a value';
  if (subjectOf(type) === 'number' && !(typeof value === 'number' && value >= 0)) {
    return 'Enter a number of 0 or more';
  }
  if (subjectOf(type) === 'expression' && value === '') return 'Enter an expression';
  return undefined;
}
