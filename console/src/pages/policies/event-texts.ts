import type { GovernanceEvent } from '#client/index.ts';
import { eventTexts } from '#console/src/messages/en/governance/decisions.ts';

export const decisionColours = {
  blocked: 'danger',
  denied: 'danger',
  redacted: 'caution',
  granted: 'success',
} as const satisfies Record<GovernanceEvent['decision'], string>;

export const isEventType = (text: string | undefined): text is GovernanceEvent['type'] =>
  text !== undefined && Object.hasOwn(eventTexts, text);

export const isDecision = (text: string | undefined): text is GovernanceEvent['decision'] =>
  text !== undefined && Object.hasOwn(decisionColours, text);
