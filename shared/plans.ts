/** What each plan allows. `null` means without limit. */
export const plans = {
  free: { runsPerMonth: 1_000, runRetentionDays: 7, auditRetentionDays: 30 },
  starter: { runsPerMonth: 10_000, runRetentionDays: 30, auditRetentionDays: 30 },
  pro: { runsPerMonth: 200_000, runRetentionDays: 90, auditRetentionDays: 365 },
  enterprise: { runsPerMonth: null, runRetentionDays: null, auditRetentionDays: null },
} as const satisfies Record<
  string,
  {
    runsPerMonth: number | null;
    runRetentionDays: number | null;
    auditRetentionDays: number | null;
  }
>;

export type Plan = keyof typeof plans;
export const planNames = Object.keys(plans) as [Plan, ...Plan[]];
