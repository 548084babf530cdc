import type { EvaluationCheck } from '../../../../shared/contract/graph.ts';
import { isRecord } from './record.ts';

export type CheckType = EvaluationCheck['type'];

/** A check while it is being written: its value may still be missing. */
export interface Check {
  name: string;
  type: CheckType;
  value?: string | number;
  target?: string;
  case_sensitive?: boolean;
}

/** What each type looks at, in the order in which they are offered. */
export const checkTypes: Record<CheckType, { label: string; value: string; about: Subject }> = {
  contains: { label: 'The text contains', value: 'What it has to contain', about: 'text' },
  not_contains: {
    label: 'The text does not contain',
    value: 'What it may not contain',
    about: 'text',
  },
  equals: { label: 'The text equals', value: 'What it has to be', about: 'text' },
  regex: { label: 'The text matches', value: 'Pattern, in RE2', about: 'text' },
  max_cost_usd: { label: 'The run costs at most', value: 'Dollars', about: 'number' },
  max_duration_ms: { label: 'The run takes at most', value: 'Milliseconds', about: 'number' },
  expression: { label: 'An expression holds', value: 'Expression', about: 'expression' },
};

/** Text checks have a target and mind the case. */
export type Subject = 'text' | 'number' | 'expression';

export const subjectOf = (type: CheckType): Subject => checkTypes[type].about;

export const newCheck = (number: number): Check => ({
  name: `check ${number}`,
  type: 'contains',
});

/** A check as the service keeps it, or as much of it as can be read. */
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

/** The check with another type: what the other type has no use for goes. */
export function retyped({ name, type: old, value, ...text }: Check, type: CheckType): Check {
  const kept = subjectOf(old) === subjectOf(type) && value !== undefined ? { value } : {};
  return { name, type, ...kept, ...(subjectOf(type) === 'text' && text) };
}

/** What is missing; undefined when it can be saved. */
export function checkProblem({ name, type, value }: Check): string | undefined {
  if (name.trim() === '') return 'A name is missing';
  if (value === undefined) return 'The value is missing';
  if (subjectOf(type) === 'number' && !(typeof value === 'number' && value >= 0)) {
    return 'The value has to be a number from 0';
  }
  if (subjectOf(type) === 'expression' && value === '') return 'The expression is missing';
  return undefined;
}
