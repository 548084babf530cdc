/** Messages for the page of schedules. */
export const scheduleList = {
  title: 'Schedules',
  about: 'Runs started on a schedule.',
  new: 'New schedule',
  empty: {
    title: 'No schedules yet',
    about: 'A schedule starts runs of a workflow at set times, so that no one has to.',
    aboutWithoutWorkflows:
      'A schedule starts runs of a workflow at set times, so that no one has to. Create a workflow first.',
    create: 'Create schedule',
    browseTemplates: 'Browse templates',
  },
} as const;

/** Messages for the schedules of one workflow. */
export const schedulePanel = {
  title: 'Schedules',
  new: 'New schedule',
  empty: {
    title: 'No schedules yet',
    about: 'A schedule starts runs of this workflow at set times, so that no one has to.',
    create: 'Create schedule',
  },
} as const;

/** Messages for the table of schedules. */
export const scheduleTable = {
  label: 'Schedules',
  schedule: 'Schedule',
  runsAt: 'Runs at',
  nextRun: (zone: string) => `Next run (${zone})`,
  enabled: 'Enabled',
  overlapping: (timezone: string) => `${timezone}, allows overlapping runs`,
  never: 'Never',
  viewRun: 'View run',
  lastRunOf: (name: string) => `View run, the last one of ${name}`,
  skipped: 'Skipped {when}: {reason}',
  refused: 'Does not run: {reason}',
  yes: 'yes',
  no: 'no',
  isEnabled: (name: string) => `${name} enabled`,
  nowEnabled: 'Schedule enabled',
  nowDisabled: 'Schedule disabled',
  actionsFor: (name: string) => `Actions for ${name}`,
  runNow: 'Run now',
  confirmDelete: {
    title: 'Delete this schedule?',
    consequence: '{name} will not start any more runs. Active runs continue.',
    confirm: 'Delete schedule',
  },
  deleted: 'Schedule deleted',
} as const;

/** Messages for the dialog that creates or edits a schedule. */
export const scheduleDialog = {
  new: 'New schedule',
  edit: 'Edit schedule',
  create: 'Create schedule',
  created: 'Schedule created',
  saved: 'Schedule saved',
  cron: 'Cron expression',
  cronAbout:
    'Minute, hour, day of month, month, day of week; or @hourly, @daily, @weekly, @monthly, @yearly',
  timezone: 'Time zone',
  timezoneAbout: 'The schedule runs in this time zone',
  selectWorkflow: 'Select a workflow',
  overlap: 'If the previous run is still active',
  overlapSkip: 'Skip the new run',
  overlapAllow: 'Start a new run',
} as const;

/** Messages for the next times of a schedule. */
export const nextTimes = {
  inWords: (words: string, zone: string) => `${words} (${zone})`,
  title: (zone: string) => `Next runs, in ${zone}`,
  invalid: 'Enter a valid cron expression and time zone, such as 0 9 * * 1-5 in Europe/Berlin.',
  none: 'No upcoming runs',
} as const;
