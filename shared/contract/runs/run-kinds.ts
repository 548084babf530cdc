/** The statuses of a run. `success` and `failed` are final. */
export const runStatuses = ['pending', 'running', 'paused', 'success', 'failed'] as const;

/** What can start a run. */
export const triggers = ['manual', 'webhook', 'mcp', 'schedule', 'workflow', 'event'] as const;

/** The statuses of a step. `unrecorded`: a rehearsal needed its result, but it was not recorded. */
export const stepStatuses = [
  'running',
  'success',
  'failed',
  'paused',
  'skipped',
  'cancelled',
  'unrecorded',
] as const;

/** Why runs fail. `unrecorded`: a rehearsal needed the result of a step that was not recorded. */
export const failureKinds = [
  'node',
  'budget',
  'cancelled',
  'rejected',
  'crash',
  'unrecorded',
] as const;
