import type { BuiltinTool } from '#shared/tools.ts';

/** Labels and hints of the fields of nodes. */
export const nodeFields = {
  outputKey: { label: 'Output key', hint: 'State key for the output. Default: the node ID.' },
  expression: { label: 'Expression', hint: 'Uses the state, like score >= 0.8 and not blocked' },
  agentPrompt: {
    label: 'Prompt',
    hint: 'Supports references like {ticket}. Leave empty to send the whole state as JSON.',
  },
  systemPrompt: { label: 'System prompt' },
  model: { label: 'Model', hint: 'One with a price, or any other as provider/model' },
  fallbackModels: {
    label: 'Fallback models',
    hint: 'Tried in this order when a provider fails. Press Enter after each.',
  },
  tool: { label: 'Tool' },
  params: {
    label: 'Parameters',
    hint: 'A JSON object. Strings can contain references like {ticket}.',
  },
  loopExpression: { label: 'Expression', hint: 'Repeats while true' },
  maxIterations: { label: 'Max iterations', hint: 'Default: 5' },
  items: {
    label: 'Items',
    hint: 'A list of the state, like order.lines. The body reads {<node ID>.item} and {<node ID>.index}.',
  },
  concurrency: { label: 'Concurrency', hint: 'Items in progress at the same time. Default: 10' },
  onItemError: { label: 'When an item fails' },
  onItemErrorChoices: {
    fail: 'Fail the node',
    collect: 'Continue, with the error in the output',
  },
  workflow: { label: 'Workflow', hint: 'Name or ID of the workflow to run' },
  workflowInput: {
    label: 'Input',
    hint: 'JSON of its input. Texts support references like {order.id}.',
  },
  workflowVersion: { label: 'Version', hint: 'Default: the current version when the step starts' },
  gatePrompt: {
    label: 'Prompt',
    hint: 'The question for the approver. Supports references like {draft}.',
  },
  gateTitle: {
    label: 'Title',
    hint: 'What is decided, in one line: Pay {amount} to {supplier}. Default: the label.',
  },
  gateInputSchema: {
    label: 'Form',
    hint: 'What approvers fill in. Each field becomes a key of the run state.',
  },
  source: {
    label: 'Code',
    hint: 'Its default export is a function of the state. What it returns is the output.',
  },
  language: { label: 'Language' },
  languageChoices: { javascript: 'JavaScript', typescript: 'TypeScript' },
  waitSeconds: { label: 'Seconds', hint: 'How long it waits. For example 3600, or {pause}.' },
  waitUntil: {
    label: 'Until',
    hint: 'Instead of seconds: an ISO time, such as {due_at} or 2027-01-31T09:00:00Z.',
  },
  waitEvent: {
    label: 'Event',
    hint: 'Instead of a time: the name of an event, such as invoice.paid.',
  },
  waitMatch: {
    label: 'Only if',
    hint: 'Reads the event and the state: event.data.invoice == invoice. Default: every event of that name.',
  },
  waitAny: {
    label: 'First of several events',
    hint: 'Instead of one event: [{"name": "invoice.paid"}, {"name": "invoice.voided"}].',
  },
  waitCallback: {
    label: 'Callback',
    hint: 'Instead of an event: another program answers at an address. A tool before or beside the wait sends it {callbacks.<ID>}, with the ID of this node.',
  },
  waitTimeout: {
    label: 'Timeout (seconds)',
    hint: 'How long it waits for an event or a callback.',
  },
  waitRemind: {
    label: 'Alert after (seconds)',
    hint: 'Sends an alert once if the run still waits then.',
  },
  waitOnTimeout: { label: 'After the timeout' },
  waitOnTimeoutChoices: { fail: 'Fail the run', continue: 'Continue at “Time ran out”' },
} as const;

/** Labels and hints of the fields under collapsible headings, and those headings. */
export const moreNodeFields = {
  groups: {
    limits: 'Timeout and retries',
    retries: 'Retries',
    approval: 'Approvers',
    stepApproval: 'Approval',
    covered: 'What an approval covers',
    deadline: 'Deadline and reminders',
    answer: 'Response',
    tools: 'Tools',
    mock: 'Mock model',
  },
  maxAttempts: { label: 'Max attempts', hint: 'Default: 1' },
  initialInterval: { label: 'Initial retry delay (seconds)', hint: 'Default: 1' },
  backoff: { label: 'Backoff multiplier', hint: 'Default: 2' },
  codeTimeout: {
    label: 'Processor time (seconds)',
    hint: 'Code that needs more is stopped. The default is 2.',
  },
  timeoutPerAttempt: { label: 'Timeout per attempt (seconds)' },
  approverRoles: {
    label: 'Roles that can decide',
    hint: 'Without roles and members, everyone with the approve_gates permission.',
  },
  approverMembers: { label: 'Members who can decide' },
  required: {
    label: 'Required approvals',
    hint: 'Different members. One rejection rejects. Default: 1',
  },
  notTheStarter: { label: 'Not by the member who started the run' },
  signedIn: { label: 'Only by members who have signed in' },
  callTitle: {
    label: 'Title',
    hint: 'What is approved, in one line: Pay {args.amount}. Default: the tool and its first arguments.',
  },
  actAs: {
    label: 'Acts as',
    hint: 'Whose account it uses of connections that members own. An approver requires an approval that always asks.',
  },
  actAsChoices: {
    '': 'The member who starts the run',
    approver: 'The member who approves the step last',
  },
  stepApproval: {
    label: 'Needs approval',
    hint: 'Whether a person must approve each execution, with its exact arguments',
  },
  recheck: {
    label: 'Repeat the reads before an approval counts',
    hint: 'If a value behind the prompt or the arguments has changed, the approver is asked again.',
  },
  covers: {
    label: 'Writes that are not known yet',
    hint: 'A write behind the gate, with arguments that are not known when it is decided',
  },
  coversChoices: { '': 'Warn in the checks', all: 'Do not allow' },
  timeout: { label: 'Timeout (seconds)' },
  onTimeout: { label: 'After the timeout' },
  onTimeoutChoices: { reject: 'Reject', approve: 'Approve', fail: 'Fail the run' },
  remind: { label: 'Remind every (seconds)', hint: 'Sends the alert of a paused run again.' },
  responseSchema: {
    label: 'Response schema',
    hint: 'The fields of the answer. The output is an object with them.',
  },
  temperature: { label: 'Temperature' },
  maxOutputTokens: { label: 'Max output tokens' },
  tools: { label: 'Tools', hint: 'The model calls them in turns until it answers.' },
  maxTurns: { label: 'Max turns', hint: 'Default: 10' },
  onMaxTurns: { label: 'After the last turn' },
  onMaxTurnsChoices: {
    fail: 'Fail the node',
    answer: 'Answer in one more turn, without tools',
  },
  toolChoice: { label: 'Tool choice' },
  toolChoices: {
    auto: 'The model decides',
    required: 'The first turn must call a tool',
  },
  mockOutput: { label: 'Output', hint: 'Any JSON. Strings can contain references like {ticket}.' },
  mockCost: { label: 'Cost (USD)' },
  mockDelay: { label: 'Delay (ms)' },
  mockFailures: { label: 'Failures before success' },
  mockTurns: {
    label: 'Turns',
    hint: 'Of an agent with tools: a JSON list, like [{"calls": [{"tool": "json_transform", "arguments": {}}]}, {"output": "done"}]',
  },
} as const;

/** Messages for the approval of a node's steps. */
export const stepApproval = {
  expression: {
    label: 'Expression',
    hint: 'A person must approve while it is true. Uses args and the state, like args.body.amount > 100',
  },
} as const;

/** Messages for a gate's recheck. */
export const recheckField = {
  after: {
    label: 'Only reads older than (seconds)',
    hint: 'Default: all of them',
  },
} as const;

/** Messages for the list of tools of an agent. */
export const toolsField = {
  add: 'Add tool',
  select: 'Select a tool',
  noMore: 'No more tools',
  remove: 'Remove tool',
  approval: {
    never: 'Approval: never',
    always: 'Approval: always',
    expression: 'Approval: expression',
  },
} as const;

/** Messages for the options of one tool of an agent. */
export const toolOptions = {
  approval: 'Approval',
  approvalAbout: 'Whether a person must approve a call before it is made',
  approvalModes: {
    never: 'Never',
    always: 'Always',
    expression: 'If an expression is true',
  },
  expression: {
    label: 'Expression',
    hint: 'A person must approve the call while it is true. Uses args and the state, like args.amount > 100',
  },
  maxCalls: { label: 'Max calls', hint: 'Over all turns. Default: no limit.' },
  onError: { label: 'When a call fails' },
  onErrorChoices: { send: 'Send the error to the model', fail: 'Fail the node' },
  fixed: {
    label: 'Fixed arguments',
    hint: 'A JSON object that the model neither sees nor sets. Strings can contain references like {ticket}.',
  },
  description: {
    label: 'Description',
    hint: 'For the model. Default: the description of the tool or workflow.',
  },
  parameters: {
    label: 'Arguments',
    hint: 'The fields that the model fills in, for a tool that has no schema.',
  },
} as const;

/** Messages for the choice of a model. */
export const modelPicker = {
  price: (input: string, output: string) => `${input} in, ${output} out per million tokens`,
  mock: 'No model is called, and it costs nothing',
  noPrice: 'No price, so its cost is not known',
  notAllowed: 'Not allowed',
  refused: 'The policies of this workspace do not allow this model.',
} as const;

/** Messages for the choice of a tool. */
export const toolPicker = {
  workflow: 'Runs this workflow',
  effects: {
    reads: 'Reads',
    writes: 'Writes',
    depends: 'Reads or writes',
    computes: 'Computes',
  },
} as const;

/** What the built-in tools are for. */
export const builtinTexts = {
  http_request: 'Sends an HTTP request. GET and HEAD only read.',
  send_email: 'Sends an email',
  send_chat_message: 'Posts a message to a chat channel',
  json_transform: 'Computes the value of an expression',
  delay: 'Waits for a number of seconds',
  mcp: 'Calls a tool of an MCP server',
  entity_upsert: 'Creates or replaces a record of a feed',
  event_emit: 'Writes an event of a record to a feed',
  entity_search: 'Finds records of your feeds',
  feed_list: 'Lists your feeds',
  source_report: 'Reports whether a source could be read',
  send_event: 'Sends an event that runs wait for, or that starts runs',
} as const satisfies Record<BuiltinTool, string>;

/** Messages for the headers and query parameters of a request, as rows. */
export const namedValues = {
  name: 'Name',
  value: 'Value',
  nameOf: (field: string, at: number) => `Name ${at} of ${field}`,
  valueOf: (field: string, at: number) => `Value ${at} of ${field}`,
  add: (field: string) => `Add to ${field}`,
  remove: (name: string) => `Remove ${name}`,
  twice: 'Another row has this name',
  secret: 'Insert secret',
  noSecrets: 'No secrets in this workspace yet',
} as const;

/** Messages for the choice of a workflow's version. */
export const workflowVersions = {
  current: 'Current version',
  isCurrent: (version: string) => `${version} (current)`,
} as const;
