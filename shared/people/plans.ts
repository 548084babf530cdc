/** The limits of each plan. `null`: unlimited. */
export const planNames = ['free', 'starter', 'pro', 'enterprise'] as const;
export type PlanName = (typeof planNames)[number];

export interface Plan {
  /** Runs created in a calendar month (UTC), by any trigger and with any result. */
  runsPerMonth: number | null;
  /** In days after the creation of the run. */
  runsKeptDays: number | null;
  auditKeptDays: number | null;
  /** Calls of the data API in a calendar month (UTC), including refused ones. */
  dataRequestsPerMonth: number | null;
  dataCreditsPerMonth: number | null;
}

export const plans: Record<PlanName, Plan> = {
  free: {
    runsPerMonth: 1_000,
    runsKeptDays: 7,
    auditKeptDays: 30,
    dataRequestsPerMonth: 5_000,
    dataCreditsPerMonth: 5_000,
  },
  starter: {
    runsPerMonth: 10_000,
    runsKeptDays: 30,
    auditKeptDays: 30,
    dataRequestsPerMonth: 50_000,
    dataCreditsPerMonth: 100_000,
  },
  pro: {
    runsPerMonth: 200_000,
    runsKeptDays: 90,
    auditKeptDays: 365,
    dataRequestsPerMonth: 500_000,
    dataCreditsPerMonth: 2_000_000,
  },
  enterprise: {
    runsPerMonth: null,
    runsKeptDays: null,
    auditKeptDays: null,
    dataRequestsPerMonth: null,
    dataCreditsPerMonth: null,
  },
};
