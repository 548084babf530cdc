import type { EvaluationCheck } from '#shared/contract/workflows/evaluation-check.ts';

/** Messages for the checks of a workflow. */
export const checksTab = {
  title: 'Checks',
  about:
    'Checks run after every successful run. Results appear on the run and do not change its status.',
  empty: {
    title: 'No checks yet',
    about:
      'A check compares the output of each successful run with what you expect, so that you see when results get worse.',
  },
  theChecks: 'the checks',
  saved: 'Checks saved',
  save: 'Save checks',
  add: 'Add check',
} as const;

/** Messages for the fields of one check. */
export const checkFields = {
  title: (number: string) => `Check ${number}`,
  remove: (number: string) => `Remove check ${number}`,
  passesWhen: 'Passes when',
  expressionAbout: 'Can use the state, output, cost_usd and duration_ms. Up to 2,000 characters.',
  target: 'Field',
  targetAbout:
    'State key or dotted path, like triage.category. Leave empty to check the run output.',
  caseSensitive: 'Case-sensitive',
} as const;

/** Labels of the types of checks and of their values. */
export const checkTypes = {
  contains: { label: 'Text contains', value: 'Expected text' },
  not_contains: { label: 'Text does not contain', value: 'Forbidden text' },
  equals: { label: 'Text equals', value: 'Expected text' },
  regex: { label: 'Text matches a pattern', value: 'Pattern (RE2)' },
  max_cost_usd: { label: 'Run cost is at most', value: 'Maximum cost (USD)' },
  max_duration_ms: { label: 'Run duration is at most', value: 'Maximum duration (ms)' },
  expression: { label: 'Expression is true', value: 'Expression' },
} as const satisfies Record<EvaluationCheck['type'], { label: string; value: string }>;

/** Messages for one check: its first name, and what is missing. */
export const check = {
  newName: (number: string) => `check ${number}`,
  enterName: 'Enter a name',
  enterValue: 'Enter a value',
  enterNumber: 'Enter a number of 0 or more',
  enterExpression: 'Enter an expression',
} as const;
