import { plural } from '#console/src/messages/format.ts';

/** Messages for what each answer to a gate sets in motion. */
export const consequences = {
  label: 'What happens',
  approve: 'If you approve',
  reject: 'If you reject',
  approved: 'If it is approved',
  rejected: 'If it is rejected',
  timeout: 'If no one decides in time',
  nothing: 'Nothing is executed.',
  nothingElse: 'Nothing else is executed.',
  afterCall: 'After this call:',
  sameAsApprove: 'The same as if you approve.',
  sameAsPlain: 'The same as an approval without your input.',
  sameAsReject: 'The same as if you reject.',
  unknown: 'What happens after the decision is not known.',
  mayNotView: 'You need the approve_gates permission to view the arguments.',
  writes: (count: number) => plural(count, { one: '# write', other: '# writes' }),
  reads: (count: number) => plural(count, { one: '# read', other: '# reads' }),
  both: (writes: string, reads: string) => `${writes}, ${reads}`,
  nextGates: (count: number) =>
    plural(count, {
      one: 'Then the run waits for another decision: {gates}.',
      other: 'Then the run waits for # other decisions: {gates}.',
    }) as 'Then the run waits for another decision: {gates}.',
  more: (count: number) =>
    plural(count, {
      one: '# more step can follow. It is not listed, because another decision or the rest of a map comes first.',
      other:
        '# more steps can follow. They are not listed, because another decision or the rest of a map comes first.',
    }),
  showMore: (count: number) => plural(count, { one: 'Show # more', other: 'Show # more' }),
} as const;

/** Messages for one step that an answer sets in motion. */
export const effect = {
  write: 'Write',
  read: 'Read',
  calls: (host: string, tool: string) => `Calls ${host} with ${tool}`,
  callsUnknownHost: (tool: string) => `Calls a host that is known when it runs, with ${tool}`,
  runsTool: (tool: string) => `Runs the tool ${tool}`,
  runsAgent: 'Runs an agent',
  runsWorkflow: 'Starts a run of another workflow',
  always: 'always',
  perhaps: 'not in every case',
  onlyIf: (condition: string) => `only if ${condition}`,
  dependsOn: (conditions: string) => `depends on what decides: ${conditions}`,
  conditions: {
    true: (expression: string) => `${expression} is true`,
    false: (expression: string) => `${expression} is false`,
    success: (node: string) => `${node} succeeds`,
    error: (node: string) => `${node} fails`,
  },
  approved: (node: string) => `${node} is approved`,
  rejected: (node: string) => `${node} is rejected`,
  perItem: (times: string) => `for each item, ${times}`,
  times: (count: string) => `${count} times`,
  once: 'once',
  timesBetween: (least: string, most: string) => `${least} to ${most} times`,
  timesOrMore: (least: string) => `${least} times or more`,
  joined: (one: string, other: string) => `${one}; ${other}`,
  costs: (cost: string) => `costs ${cost}`,
  asksFirst: 'It asks for its own approval first if this is true: {expression}',
  mayCall: 'It can call {tools}.',
  approvals: {
    always: (tool: string) => `${tool} (after approval)`,
    never: (tool: string) => `${tool} (without approval)`,
    if: (tool: string, expression: string) => `${tool} (after approval if ${expression})`,
  },
  problem: 'Its arguments cannot be rendered, so it fails when it is reached: {problem}',
  argumentsOf: (label: string) => `Arguments of ${label}`,
  noArguments: 'No arguments',
  notKnown: 'Not known yet',
  notKnownReads: (keys: string) => `Not known yet: reads ${keys}`,
  showAll: (count: string) => `Show all ${count} arguments`,
  none: 'none',
} as const;

/** Messages for how the lists differ from other ones. */
export const listChanges = {
  added: 'New',
  changed: 'Changed',
  removed: 'No longer',
  byInput: 'Marked: what your input changes.',
  sinceRead: 'Marked: what has changed since you opened this gate.',
  sinceReadAndByInput: 'Marked: what has changed since you opened this gate, also by your input.',
} as const;

/** Messages for the lists with the input of the form. */
export const liveLists = {
  incomplete:
    'Fill in the required fields to see what happens with your input. These lists are without it.',
  lastComplete: 'A required field is empty, so these lists are those of your last complete input.',
  checking: 'Checking what happens with your input…',
  withInput: 'These lists include your input.',
  invalid: (problem: string) =>
    `Your input does not fit, so these lists are the last valid ones. ${problem}`,
  failed: (problem: string) =>
    `The lists cannot be updated, so they are the last valid ones. ${problem}`,
  withdraws: (count: number) =>
    plural(count, {
      one: 'Your input changes what happens, so your approval withdraws the earlier approval by {names}.',
      other:
        'Your input changes what happens, so your approval withdraws # earlier approvals, by {names}.',
    }) as 'Your input changes what happens, so your approval withdraws the earlier approval by {names}.',
  stale:
    'What happens has changed since you read it, so nothing was approved or rejected. Check what is marked, then decide again.',
} as const;
