import type { GovernanceEvent } from '#client/index.ts';

/** Messages for the policy log. */
export const events = {
  title: 'Policy log',
  about:
    'Actions that policies and budgets blocked, redacted or allowed by override. Evidence contains counts and names, never the data found.',
  search: 'Policy log',
  allKinds: 'All kinds',
  allDecisions: 'All decisions',
  allWorkflows: 'All workflows',
  runPlaceholder: 'Run ID',
  noMatch: {
    title: 'No matching entries',
    about: 'Remove a filter to see more entries.',
  },
  empty: {
    title: 'No entries yet',
    about:
      'An entry says what a rule blocked, redacted or allowed, and in which run. They appear when runs are subject to {policies} and {budgets}.',
    policies: 'policies',
    budgets: 'budgets',
  },
} as const;

/** Messages for one decision. */
export const eventCard = {
  showEvidence: 'Show evidence',
  hideEvidence: 'Hide evidence',
  theEvidence: 'the evidence',
  gate: 'Gate',
  stepKey: 'Step',
  different: 'Different from what was approved',
  run: 'Run {id}',
  step: 'Step {id}',
  workflowVersion: '{name} v{version}',
  by: 'by {name}',
} as const;

/** Labels of the decision types. */
export const eventTexts = {
  policy_denied: 'Policy denied',
  tool_argument_blocked: 'Argument blocked',
  data_redacted: 'Data redacted',
  budget_blocked: 'Blocked by a budget',
  model_fallback_blocked: 'Fallback blocked',
  approval_override_granted: 'Override granted',
  approval_mismatch: 'Not as approved',
} as const satisfies Record<GovernanceEvent['type'], string>;

/** Labels of the decisions. */
export const decisionTexts = {
  blocked: 'Blocked',
  denied: 'Denied',
  redacted: 'Redacted',
  granted: 'Granted',
} as const satisfies Record<GovernanceEvent['decision'], string>;
