/** Messages for the command palette. */
export const palette = {
  label: 'Search and commands',
  field: 'Search or run a command',
  placeholder: 'Page, workflow, run, member or action',
  results: 'Results',
  nothing: 'Nothing found',
  groups: {
    actions: 'Actions',
    pages: 'Pages',
    workflows: 'Workflows',
    runWorkflow: 'Run a workflow',
    runs: 'Runs',
    members: 'Members',
  },
  runWorkflow: (name: string) => `Run ${name}`,
  run: (workflow: string, status: string) => `${workflow}, ${status}`,
  searchRuns: (typed: string) => `Search runs for “${typed}”`,
  openRun: (id: string) => `Open run ${id}`,
  fromTemplate: 'Start from a template',
  newWorkflow: 'New workflow',
  newSecret: 'New secret',
  newBudget: 'New budget',
  newSchedule: 'New schedule',
  invite: 'Invite a member',
  nextApproval: 'Next approval',
  copyLink: 'Copy link to this page',
  lightTheme: 'Toggle theme: light',
  darkTheme: 'Toggle theme: dark',
  signOut: 'Sign out',
  failedRuns: 'Show failed runs',
  shortcuts: 'Keyboard shortcuts',
} as const;

/** Messages for the actions on the run of the page. */
export const runActions = {
  cancel: {
    label: 'Cancel this run',
    title: 'Cancel this run?',
    consequence: 'It fails and starts no new steps.',
    confirm: 'Cancel run',
    keep: 'Keep running',
    done: 'Run cancelled',
  },
  resume: {
    label: 'Resume this run',
    title: 'Resume this run?',
    consequence: 'Only steps that had not finished run again.',
    confirm: 'Resume run',
    done: 'Run resumed',
  },
} as const;

/** Messages for the list of shortcuts. */
export const shortcutSheet = {
  title: 'Keyboard shortcuts',
  everyPage: 'Every page',
  palette: 'Search and commands (Cmd on a Mac)',
  sheet: 'Keyboard shortcuts',
  goTo: (page: string) => `Go to ${page}`,
  approvals: {
    title: 'Approvals',
    next: 'Next approval',
    previous: 'Previous approval',
    approve: 'Approve',
    edit: 'Edit the arguments or the input',
    reject: 'Give a reason and reject',
    approveField: 'In a field of the form or the arguments: approve',
    rejectReason: 'In the reason, after r: reject',
    leave: 'Leave a field',
    undo: 'Undo the decision',
  },
  editor: {
    title: 'Editor',
    undo: 'Undo',
    redo: 'Redo',
    save: 'Save the draft',
  },
  single: 'Shortcuts of single keys',
  singleAbout: 'Off while you type or in a dialog. Turn them off if you dictate.',
} as const;
