/** Messages for the page of budgets. */
export const budgets = {
  title: 'Budgets',
  about:
    'Spending limits for runs. New runs are refused once the limit is reached. Reservations stop runs before it.',
  new: 'New budget',
  editTitle: 'Edit budget',
  empty: {
    title: 'No budgets yet',
    about:
      'A budget limits what runs can cost per day, week or month. Without one, a loop of agents can spend until you notice.',
    create: 'Create budget',
  },
} as const;

/** Messages for one budget. */
export const budgetCard = {
  perWindow: {
    day: '{limit} per day, {scope}',
    week: '{limit} per week, {scope}',
    month: '{limit} per month, {scope}',
    total: '{limit} in total, {scope}',
  },
  allWorkflows: 'all workflows',
  oneWorkflow: 'workflow {name}',
  noReservations: 'no reservations',
  reserves: (dollars: string) => `reserves ${dollars} per run`,
  noAlerts: 'no alerts',
  limitReached: 'Limit reached. New runs are refused until you raise the limit.',
  limitReachedInWindow:
    'Limit reached. New runs are refused until you raise the limit or the window ends.',
  window: 'Window {start} to {end}',
  countingSince: 'Counting since {start}',
  showDays: 'Show daily spend',
  hideDays: 'Hide daily spend',
  over: 'Over limit',
  reached: 'Limit reached',
  onTrackToExceed: 'On track to exceed',
  used: (percent: string) => `${percent} used`,
  deleted: 'Budget deleted',
  confirmDelete: {
    title: 'Delete this budget?',
    consequence: '{name} will no longer limit the cost of runs. Past spend stays in usage.',
    confirm: 'Delete budget',
  },
} as const;

interface Sums {
  spent: string;
  reserved: string;
  projected: string;
  limit: string;
}

/** Messages for the bar of a budget. */
export const budgetBar = {
  spent: (dollars: string) => `Spent ${dollars}`,
  reserved: (dollars: string) => `Reserved ${dollars}`,
  remaining: (dollars: string) => `Remaining ${dollars}`,
  overBy: (dollars: string) => `Over by ${dollars}`,
  projected: (dollars: string) => `Projected ${dollars}`,
  limit: 'Limit',
  summary: (sums: Sums & { remaining: string }) =>
    `Spent ${sums.spent}, reserved ${sums.reserved}, Remaining ${sums.remaining}, projected ${sums.projected} of ${sums.limit}`,
  summaryOver: (sums: Sums & { over: string }) =>
    `Spent ${sums.spent}, reserved ${sums.reserved}, Over by ${sums.over}, projected ${sums.projected} of ${sums.limit}`,
} as const;

/** Messages for the form of a budget. */
export const budgetForm = {
  created: 'Budget created',
  saved: 'Budget saved',
  create: 'Create budget',
  limit: 'Limit (USD)',
  spentBefore: {
    day: (dollars: string) => `Yesterday, all workflows spent ${dollars}.`,
    week: (dollars: string) => `Last week, all workflows spent ${dollars}.`,
    month: (dollars: string) => `Last month, all workflows spent ${dollars}.`,
    total: (dollars: string) => `In the last 90 days, all workflows spent ${dollars}.`,
  },
  reserve: 'Reserve an estimate for active runs',
  aboutReserve:
    'Stops runs before they exceed the limit. Without it, only ended runs count: a run that has started can spend any amount.',
  estimate: 'Estimate per run (USD)',
  aboutEstimate: 'A run is not stopped while it costs less.',
  overrun: 'Allow one step above the limit',
  aboutOverrun:
    'A step begins while something is left. Otherwise it begins only if everything it may cost fits.',
  alerts: 'Send alerts at 80% and 100%',
  aboutAlerts: 'When this much is spent, to the channels under “Alerts” in the settings.',
  window: 'Window',
  aboutWindow: 'In UTC. Weeks start on Monday.',
  windows: {
    day: 'Day',
    week: 'Week',
    month: 'Month',
    total: 'Total (never resets)',
  },
  allWorkflows: 'All workflows',
  fixed: 'You cannot change the window or the workflow. Create another budget instead.',
} as const;

/** Messages for the days of a budget, in a chart and a table. */
export const burnDown = {
  chart: 'Chart of the remaining budget per day. The table has the same data.',
  remaining: 'Remaining',
  evenPace: 'Even pace',
  lastDays: 'Last 90 days. Earlier spend is deducted at the start.',
  days: 'Days',
  daysOf: (budget: string) => `Days of ${budget}`,
  day: 'Day (UTC)',
  spent: 'Spent',
} as const;
