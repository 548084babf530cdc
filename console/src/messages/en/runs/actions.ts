import { plural } from '#console/src/messages/format.ts';

/** Messages for the buttons of a run. */
export const runActions = {
  more: 'More actions',
  decide: 'Decide',
  print: 'Print',
  temporal: 'Open in the Temporal UI',
  runAgain: 'Run again',
  evidence: 'Export evidence',
  resume: {
    button: 'Resume',
    title: 'Resume this run?',
    confirm: 'Resume',
    done: 'Run resumed',
  },
  cancel: {
    button: 'Cancel run',
    title: 'Cancel this run?',
    confirm: 'Cancel run',
    keep: 'Keep running',
    done: 'Run cancelled',
    ends: 'The run ends now and starts no new steps.',
    stops: (steps: number) =>
      plural(steps, {
        one: '{names} stops. Changes already made in other systems are not undone.',
        other: '{names} stop. Changes already made in other systems are not undone.',
      }),
    gatesClose: (gates: number) =>
      plural(gates, {
        one: 'The open gate closes without a decision.',
        other: 'The open gates close without a decision.',
      }),
    resumable: 'You can resume the run later.',
  },
  hints: {
    mayNotOverride: 'To override the budget, you need the manage_workspace permission.',
    mayOnlyResume:
      'You can resume this run once the budget has room. To override the budget, you need the manage_workspace permission.',
    mayNotResume: 'To resume this run, you need the cancel_resume permission.',
  },
} as const;

/** Messages for the effect of a resume. */
export const resumeEffect = {
  starts: 'The remaining steps start.',
  again: (steps: number) =>
    plural(steps, {
      one: '{names} runs again, followed by the remaining steps.',
      other: '{names} run again, followed by the remaining steps.',
    }),
  noneKept: 'No step has finished yet.',
  kept: (steps: number) =>
    plural(steps, {
      one: '# finished step is kept and not charged again.',
      other: '# finished steps are kept and not charged again.',
    }),
  expect: {
    budget: 'The budget is checked again. If it has no room, the run stops at the same step.',
    rejected: 'The gate asks for a decision again.',
    cancelled: 'The run continues from where it was cancelled.',
  },
} as const;

/** Messages for the dialog that overrides the budget. */
export const override = {
  button: 'Override budget',
  title: 'Override the budget for this run?',
  about: (cost: string) =>
    `Budgets will not stop this run again, but its cost still counts toward them. Cost so far: ${cost}.`,
  cap: 'New run cap (USD)',
  aboutCap: 'Maximum total cost of the run. Leave empty for no cap.',
  tooLow: (cost: string) => `Enter more than the cost so far: ${cost}`,
  aboutReason: 'Saved in the audit log and with the decision.',
  confirm: 'Override and resume',
  done: 'Run resumed',
} as const;

/** Messages for the dialog that starts a run from a step. */
export const fork = {
  button: 'Fork from here',
  title: 'Fork the run from this step',
  submit: 'Fork',
  about:
    'Starts a new run. It reuses every finished step that does not depend on {step}, and executes that step and what follows it, with their effects and costs.',
  aboutState: 'What this step starts with. Your changes count from this step on.',
  unknownState: 'The state here is not known. The keys of this JSON object replace its keys.',
  aboutInput: 'Steps before this one that read a changed key are executed again.',
  notReused: (steps: number) =>
    plural(steps, {
      one: '# earlier step is executed again',
      other: '# earlier steps are executed again',
    }),
} as const;

/** Messages for the fields that forks and rehearsals have. */
export const againFields = {
  asInRun: 'As in this run',
  versionOfRun: (version: number) => `Version ${version}, as in this run`,
  currentVersion: (version: number) => `Version ${version}, the current one`,
  draft: 'The draft',
} as const;

/** Messages for the dialog that rehearses a run. */
export const rehearse = {
  button: 'Rehearse',
  title: 'Rehearse this run',
  submit: 'Rehearse',
  about:
    'Starts a run that takes the results of its steps from the record of this one. It has no effects, and costs nothing unless you allow agents.',
  aboutInput: 'Steps that use a value you change cannot reuse their result.',
} as const;

/** Messages for what a rehearsal may execute. */
export const rehearsalFields = {
  allow: 'Run for real if nothing was recorded',
  aboutAllow:
    'Pick the steps that may run, also custom:<name>. Any other unrecorded step stops the rehearsal.',
  execute: 'Execute failed steps again',
  aboutExecute: 'If they are allowed above. Otherwise a recorded failure fails again.',
  pins: 'Use my pinned outputs',
  aboutPins: 'Nodes have the outputs that you pinned in the editor, and not those of the record.',
  rehearse: 'Rehearse',
  aboutRehearse:
    'Also reuse the recorded results after this step. No model is called, nothing is sent.',
} as const;

/** Messages for the dialog that chooses a run to compare with. */
export const compareForm = {
  button: 'Compare with…',
  title: 'Compare with another run',
  source: 'The run that this one was started from',
  recent: 'Recent runs of this workflow',
  noOthers: 'The workflow has no other runs.',
  id: 'Or the ID of a run',
  submit: 'Compare',
} as const;
