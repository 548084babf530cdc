import { plural } from '#console/src/messages/format.ts';

/** Messages for the plans in the settings. */
export const plans = {
  title: 'Plan',
  table: 'Plans',
  plan: 'Plan',
  runsPerMonth: 'Runs per month',
  runRetention: 'Run retention',
  auditRetention: 'Audit log retention',
  dataRequestsPerMonth: 'Data API calls per month',
  actions: 'Actions',
  current: 'Current',
  unlimited: 'Unlimited',
  days: (count: number) => plural(count, { one: '# day', other: '# days' }),
  about: 'Months are in UTC. A plan limit never stops an active run.',
  change: 'Change plan',
  changeTo: (plan: string) => `Change plan to ${plan}`,
  changeTitle: (plan: string) => `Change to the ${plan} plan?`,
  losesRecords: (retention: { runs: string; audit: string }) =>
    `Runs are kept for ${retention.runs} and audit entries for ${retention.audit}. Older ones are permanently deleted within a day.`,
  appliesImmediately: 'The new limits apply immediately.',
  changed: (plan: string) => `Plan changed to ${plan}`,
} as const;
