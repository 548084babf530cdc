import type { GovernanceEvent } from '../../../../client/index.ts';

/** Display texts of the decision types. */
export const eventTexts = {
  policy_denied: 'Policy denied',
  tool_argument_blocked: 'Argument blocked',
  data_redacted: 'Data redacted',
  budget_blocked: 'Budget blocked',
  model_fallback_blocked: 'Fallback blocked',
  approval_override_granted: 'Override granted',
} as const satisfies Record<GovernanceEvent['type'], string>;

export const decisionColours = {
  blocked: 'red',
  denied: 'red',
  redacted: 'orange',
  granted: 'teal',
} as const satisfies Record<GovernanceEvent['decision'], string>;

export const isEventType = (text: string | undefined): text is GovernanceEvent['type'] =>
  text !== undefined && Object.hasOwn(eventTexts, text);

export const isDecision = (text: string | undefined): text is GovernanceEvent['decision'] =>
  text !== undefined && Object.hasOwn(decisionColours, text);
