/** Messages for the bar that says whose draft this is. */
export const draftBar = {
  usedVersion: (version: number) =>
    `Runs, webhooks and schedules use version ${version} until a draft is published.`,
  mayNotPublish:
    'You need the publish_workflows permission to publish: save the draft and ask someone who has it.',
  discard: 'Discard draft',
  publish: 'Publish',
  withoutDraft: (version: number, isEmpty: boolean) =>
    `No draft yet · Live: version ${version}${isEmpty ? ' (empty)' : ''}`,
  newDraft: (version: number, isEmpty: boolean) =>
    `Editing a new draft · Live: version ${version}${isEmpty ? ' (empty)' : ''}`,
  draft: (version: number) => `Draft, based on version ${version}`,
  draftSaved: 'Draft, based on version {version}, saved by {author} {when}',
  anApiKey: 'an API key',
} as const;

/** Messages for the dialog that publishes a draft. */
export const publishDialog = {
  title: 'Publish this draft?',
  problems: 'The service found these problems',
  consequence: (version: number) =>
    `It becomes version ${version}. New runs, webhooks and schedules use it immediately.`,
  author: 'Author: {author}, who saved it last, {when}',
  anApiKey: 'an API key',
  note: 'Note',
  noteAbout: 'What this version changes. Everyone who can see the workflow can read it.',
  publish: 'Publish draft',
} as const;

/** Messages for what the editor shows when someone else changed the draft or the version. */
export const conflict = {
  newVersion: (version: number) => `Version ${version} is current now`,
  draftGone: 'The draft was published or discarded',
  draftChanged: 'Someone else changed this draft',
  compare: 'Compare',
  compareVersion: (version: number) => `Compare with version ${version}`,
  compareDraft: 'Compare with their draft',
  changesInVersion: (version: number) => `What your content changes in version ${version}:`,
  changesInDraft: 'What your content changes in their draft:',
  loadVersion: (version: number) => `Load version ${version}`,
  loadDraft: 'Load their draft',
  keepMine: 'Keep mine',
  behind: (version: number) =>
    `The draft began at an earlier version. “Keep mine” saves it on top of version ${version}, so that it replaces that version when it is published.`,
  keepAsNewDraft: (version: number) =>
    `“Keep mine” saves your content as a new draft, based on version ${version}.`,
  savedMeanwhile: '{author} saved it {when}. “Keep mine” replaces their content with yours.',
  someone: 'Someone',
} as const;

/** Messages for the actions on a draft. */
export const saving = {
  saved: 'Draft saved',
  published: (version: number) => `Version ${version} published`,
  discarded: 'Draft discarded',
  discardTitle: 'Discard this draft?',
  discardConsequence: (version: number) =>
    `The editor returns to version ${version}. You cannot undo this.`,
  discardConfirm: 'Discard draft',
  confirmLoad: {
    title: 'Load their changes?',
    consequence: 'You lose your unsaved changes.',
    confirm: 'Discard my changes',
  },
} as const;

/** Messages for the question before the editor closes with unsaved changes. */
export const leaveGuard = {
  title: 'Leave without saving?',
  consequence:
    'You have unsaved changes to the graph. This tab keeps them until you close it, and the editor offers them when you return.',
  leave: 'Leave',
  stay: 'Stay',
} as const;
