/** The statuses of a run. The last two are final. */
export const runStatuses = ['pending', 'running', 'paused', 'success', 'failed'] as const;

/** What can start a run. */
export const triggers = ['manual', 'webhook', 'mcp', 'schedule', 'workflow'] as const;
