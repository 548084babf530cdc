import { plural } from '#console/src/messages/format.ts';

/** Messages for the overview. */
export const overview = {
  title: 'Overview',
  useTemplate: 'Use a template',
  runs: 'Runs, last 14 days',
  runsPerDay: 'Runs per day',
  cost: 'Cost, last 14 days',
  costPerDay: 'Cost per day',
} as const;

/** Messages for the figures of the workspace. */
export const metrics = {
  successRate: 'Success rate',
  cancelled: (runs: number) =>
    plural(runs, {
      one: 'including # cancelled run',
      other: 'including # cancelled runs',
    }),
  manyCancelled: (runs: string) => `including ${runs} or more cancelled runs`,
  published: 'Published workflows',
  checksPassed: 'Checks passed',
  ofRunsWithChecks: (runs: number) =>
    plural(runs, { one: 'of # run with checks', other: 'of # runs with checks' }),
} as const;

/** Messages for a workspace without runs. */
export const firstSteps = {
  title: 'No runs yet',
  all: 'View all templates',
  about: 'Start from a template. One click creates a workflow from it and runs it.',
  mayNotRun: 'You need the create_edit_workflows and run_workflows permissions to run a template.',
} as const;

/** Messages for the first steps in a workspace with the examples. */
export const startHere = {
  title: 'Start here',
  about:
    'Workflows of AI agents, tools and people run here. They survive crashes, wait for your decision where it matters, and record each step and its cost.',
  dismiss: 'Hide these steps',
  done: '(done)',
  decide: {
    title: 'Decide a request that waits',
    about: 'An agent waits for your decision. Read what it would do, change it, approve or reject.',
    act: 'Decide',
  },
  resume: {
    title: 'Resume a failed run',
    about: 'It continues where it failed. Steps that had finished do not run again.',
    act: 'Open the run',
  },
  change: {
    title: 'Change a prompt and try it on past runs',
    about: 'Edit an agent, save the draft, then compare it with past runs under “Experiments”.',
    act: 'Open the editor',
  },
  took: (duration: string, cost: string) => `Done in ${duration} for ${cost} –`,
  openResult: 'open result',
} as const;

/** Messages for the use of the plan. */
export const quota = {
  title: 'This month',
  label: 'Monthly run quota used',
  cost: (dollars: string) => `Cost: ${dollars}.`,
  unlimited: (used: string, plan: string) => `${used} runs on the ${plan} plan (unlimited).`,
  used: (used: string, limit: string, plan: string) =>
    `${used} of ${limit} runs on the ${plan} plan.`,
  reached: 'You cannot start more runs this month.',
  resets: (day: string) => `Resets after ${day} (UTC).`,
} as const;

/** Messages for the list of failed runs. */
export const recentFailures = {
  title: 'Recent failures',
  all: 'View all failed runs',
  none: 'No recent failures',
  noneAbout:
    'Runs that fail appear here with their error, and can be resumed from the step that failed.',
  noMessage: 'No error message.',
  byBudget: 'Stopped by budget',
  view: 'View run',
} as const;

/** Messages for the list of gates. */
export const waitingGates = {
  title: 'Pending approvals',
  all: 'View all approvals',
  none: 'No pending approvals',
  noneAbout: 'Runs that wait for the decision of a person appear here.',
  label: 'Longest waiting gates',
  waitingFor: (duration: string) => `waiting for ${duration}`,
} as const;
