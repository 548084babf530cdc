/** Messages about the values of a node's texts in a run. */
export const evaluator = {
  notReached: 'The run did not get to this node.',
  hasErrors: 'The values are shown once the graph has no errors.',
  fromInput: 'input',
  misspelled: (key: string, meant: string) =>
    `The run has no key “${key}” here; did you mean “${meant}”?`,
} as const;

/** Messages for the value of a field. */
export const fieldValue = {
  title: (label: string) => `Value of ${label}`,
  none: (reason: string) => `No value: ${reason}`,
  emptyText: '(empty text)',
} as const;

/** Messages for the choice of the run whose values the fields show. */
export const valuesFrom = {
  label: 'Values from',
  item: 'Item',
  input: (value: string) => `Input: ${value}`,
  /** `2 · failed` */
  itemChoice: (item: string, status: string) => `${item} · ${status}`,
  noRuns: 'Run the workflow once to see the value of each field here.',
} as const;

/** Messages for the parameters of a tool. */
export const paramsField = {
  editAs: 'Edit the parameters as',
  form: 'Form',
  json: 'JSON',
  add: 'Add parameter',
  select: 'Select a parameter',
  required: 'Required.',
  example: 'For example total * 1.19',
  oneOf: (values: string) => `One of ${values}.`,
} as const;

/** Descriptions of the parameters of tools that only nodes call. */
export const toolSchemas = {
  delay: { seconds: 'How long the run waits' },
  mcp: {
    serverUrl: 'The URL of the MCP server',
    tool: 'The name of the tool there',
    arguments: 'Its arguments',
    headers: 'HTTP headers of the request',
  },
} as const;
