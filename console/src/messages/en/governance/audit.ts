/** Messages for the page of the audit log. */
export const audit = {
  title: 'Audit log',
  about: 'A change cannot happen without its entry here.',
  entries: 'Entries',
  shown: (shown: string, total: string) => `${shown} of ${total} entries`,
  table: 'Audit entries',
  actor: 'Actor',
  action: 'Action',
  target: 'Target',
  details: 'Details',
  empty: {
    title: 'No entries yet',
    about: 'The log gets an entry for each change, with its author.',
  },
  noMatch: {
    title: 'No matching entries',
    about: 'Remove a filter to see more entries.',
  },
} as const;

/** Messages for the filters of the audit log. */
export const auditFilters = {
  search: 'Audit log',
  action: 'Action',
  actor: 'Actor',
  anyone: 'Anyone',
  targetType: 'Target type',
  targetId: 'Target ID',
  from: 'From',
  to: 'To',
  clear: 'Clear filters',
  clearOf: (filter: string) => `Clear ${filter}`,
  noneFound: 'Nothing found',
} as const;

/** Messages for one entry of the audit log. */
export const auditRow = {
  show: 'Show',
  hide: 'Hide',
  showDetails: (action: string) => `Show details of ${action}`,
  hideDetails: (action: string) => `Hide details of ${action}`,
  theDetails: 'the details',
  system: 'System',
} as const;

/** Messages for the verification of the hash chain. */
export const auditChain = {
  title: 'Integrity',
  verify: 'Verify chain',
  about:
    'Each entry includes the hash of the previous entry. Any changed, removed or inserted entry breaks the chain.',
  intact: 'The log is intact',
  verified: (entries: string, toolCalls: string) =>
    `${entries} entries and ${toolCalls} approved tool calls verified.`,
  unsealed: (count: string) => `${count} not sealed yet. This takes about a second.`,
  tampered: 'The log was tampered with',
  outside: (problem: string) => `An entry is not part of the chain: ${problem}`,
  entryOutside: (problem: string, entry: string) =>
    `An entry is not part of the chain: ${problem} (entry ${entry})`,
  at: (position: string, problem: string) => `At position ${position}: ${problem}`,
  entryAt: (position: string, problem: string, entry: string) =>
    `At position ${position}: ${problem} (entry ${entry})`,
  toolCall: (step: string, run: string, problem: string) =>
    `Tool call ${step} of run ${run}: ${problem}`,
  latestHash: (position: string) => `Latest hash, at position ${position}`,
  theLatestHash: 'the latest hash',
  store:
    'Store this line outside the database. Someone with full database access could rewrite the whole log. To detect that, run npm run audit:verify -- --head followed by this line.',
} as const;
