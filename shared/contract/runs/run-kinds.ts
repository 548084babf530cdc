/** The statuses of a run. The last two are final. */
export const runStatuses = ['pending', 'running', 'paused', 'success', 'failed'] as const;

/** What can start a run. */
export const triggers = ['manual', 'webhook', 'mcp', 'schedule', 'workflow'] as const;

/** The statuses of a step. `unrecorded`: a rehearsal needed it and had no record of it. */
export const stepStatuses = [
  'running',
  'success',
  'failed',
  'paused',
  'skipped',
  'cancelled',
  'unrecorded',
] as const;

/** Why runs fail. `unrecorded`: a rehearsal needed a step that had no record. */
export const failureKinds = [
  'node',
  'budget',
  'cancelled',
  'rejected',
  'crash',
  'unrecorded',
] as const;
