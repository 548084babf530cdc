import type { PlanName } from '#shared/people/plans.ts';

/** Names of the plans. */
export const planTexts = {
  free: 'Free',
  starter: 'Starter',
  pro: 'Pro',
  enterprise: 'Enterprise',
} as const satisfies Record<PlanName, string>;
