/** Messages for the details of a step. */
export const inspector = {
  reusedFrom: 'Reused from {run}: it took no time and cost nothing here',
  anotherRun: 'another run',
  partOf: 'Part of the conversation of {agent}',
  previousIteration: 'Previous iteration',
  nextIteration: 'Next iteration',
  place: (place: string, all: string) => `${place} of ${all}`,
  theError: 'the error',
  errorPath: 'The run took the error path of this node.',
  collected: 'The map collects errors, so the run continued with the other items.',
} as const;

/** Messages for the link to the run that a step started. */
export const childLink = {
  open: 'Open child run',
  paused: '{run}, which is paused and needs a decision',
} as const;

/** Messages for the decision at a gate. */
export const decided = {
  reason: 'Reason: {reason}',
} as const;

/** Messages for what can be done with a step. */
export const stepActions = {
  editNode: 'Edit node',
  pin: 'Pin output',
  pinned: 'Output pinned for your tests and rehearsals',
  test: 'Test this node',
  testTitle: 'Test this node',
  nodeMissing: 'The workflow does not have this node any more.',
} as const;

/** Messages for what people did at a step. */
export const stepAudit = {
  empty: 'No entries yet',
  open: 'Open in the audit log',
  atThisStep: (action: string) => `${action}, at this step`,
  theService: 'The service',
} as const;

/** Messages for the figures of a step. */
export const stepFacts = {
  key: 'Key',
  queued: 'Queued',
  failedAttempts: 'Failed attempts',
  unpriced: (cost: string) => `${cost} · this model has no price`,
  atMost: (dollars: string) => `At most ${dollars}: the provider reported no tokens`,
  checkpoint: 'Checkpoint',
  historyEvent: (id: number) => `History event ${id}`,
  tokens: 'Tokens',
  inAndOut: (given: string, written: string) => `${given} in, ${written} out`,
  cached: 'Read from the cache',
  stored: 'Stored in the cache',
  countOfTokens: (count: string) => `${count} tokens`,
} as const;

/** Messages for the data of a step. */
export const stepTabs = {
  conversation: 'Conversation',
  answer: 'Answer',
  prompt: 'Prompt',
  attempts: (count: string) => `Attempts (${count})`,
  policies: (count: string) => `Policies (${count})`,
  audit: 'Audit',
  systemPrompt: 'System prompt',
  otherInput: 'Other input',
  theOutput: 'the output',
  log: 'Log',
  theLog: 'the log',
  theInput: 'the input',
  theSystemPrompt: 'the system prompt',
  thePrompt: 'the prompt',
  theOtherInput: 'the other input',
  theEvidence: 'the evidence',
} as const;

/** Messages for the attempts at a step. */
export const attempts = {
  title: 'Attempts',
  running: 'running',
  after: (outcome: string, duration: string) => `${outcome} after ${duration}`,
  started: 'started {time}',
} as const;

/** What a policy decided about a step. */
export const verdict = '{decision} by {policy}: {reason}';
