import type { EvaluationCheck } from '#shared/contract/workflows/evaluation-check.ts';
import { check as texts, checkTypes as labels } from '#console/src/messages/en/workflows/checks.ts';
import { isRecord } from '#console/src/parts/data/record.ts';
import { countText } from '#console/src/parts/text/numbers.ts';

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
  contains: { ...labels.contains, about: 'text' },
  not_contains: { ...labels.not_contains, about: 'text' },
  equals: { ...labels.equals, about: 'text' },
  regex: { ...labels.regex, about: 'text' },
  max_cost_usd: { ...labels.max_cost_usd, about: 'number' },
  max_duration_ms: { ...labels.max_duration_ms, about: 'number' },
  expression: { ...labels.expression, about: 'expression' },
};

/** Text checks have a target and a case sensitivity option. */
export type Subject = 'text' | 'number' | 'expression';

export const subjectOf = (type: CheckType): Subject => checkTypes[type].about;

export const newCheck = (number: number): Check => ({
  name: texts.newName(countText(number)),
  type: 'contains',
});

/** A stored check, as far as it is valid. */
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
  if (name.trim() === '') return texts.enterName;
  if (value === undefined) return texts.enterValue;
  if (subjectOf(type) === 'number' && !(typeof value === 'number' && value >= 0)) {
    return texts.enterNumber;
  }
  if (subjectOf(type) === 'expression' && value === '') return texts.enterExpression;
  return undefined;
}
