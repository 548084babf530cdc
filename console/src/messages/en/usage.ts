import { plural } from '#console/src/messages/format.ts';

/** Messages for the page of usage. */
export const usage = {
  title: 'Usage',
  about: 'Runs, tokens and cost of this workspace.',
  month: {
    title: 'This month',
    runs: (used: string, plan: string) => `${used} runs on the ${plan} plan`,
    runsOf: (month: { used: string; limit: string; plan: string }) =>
      `${month.used} of ${month.limit} runs on the ${month.plan} plan`,
    quota: (percent: string) => `Quota: ${percent} used`,
    quotaUsedUp: 'Quota used up. New runs are refused until the month ends or you change the plan.',
    period: '{start} to {end}',
  },
  byDay: 'By day',
  period: 'Period',
  days: (count: number) => plural(count, { one: '# day', other: '# days' }),
  byWorkflow: 'By workflow',
  byModel: 'By model',
  empty: {
    title: 'No runs in this period',
    about:
      'The cost and number of runs per day, workflow and model appear here. Run a workflow, or select a longer period.',
  },
  cost: (dollars: string) => `Cost: ${dollars}`,
  costByDay: 'Cost by day',
  runs: (count: string) => `Runs: ${count}`,
  runsByDay: 'Runs by day',
} as const;

/** Messages for the tables of usage by workflow and by model. */
export const breakdown = {
  byWorkflow: 'Usage by workflow',
  otherWorkflows: 'All others',
  byModel: 'Usage by model',
  tokensIn: 'Tokens in',
  tokensOut: 'Tokens out',
  failedAttempts: 'Failed attempts',
  unpriced: (steps: string) => `${steps} unpriced`,
  unpricedTitle: 'Some steps have no price',
  unpricedAbout:
    'Their cost is unknown, so the totals here are too low. Budgets and caps refuse steps without a price.',
  unpricedModels:
    'Their cost is unknown, so the totals here are too low. Budgets and caps refuse steps without a price. Add prices for these models below: {models}.',
  none: 'No usage in this period.',
} as const;
