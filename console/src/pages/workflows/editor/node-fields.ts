import { roles } from '../../../../../shared/capabilities.ts';
import { MAX_TURNS, type NodeKind } from '../../../../../shared/contract/graph.ts';

/** One field of a node's form. */
export interface NodeField {
  /** Its path in the node. */
  name: string;
  label: string;
  hint?: string;
  /**
   * `template` is a text with references, `expression` an expression over the state, `names` a list of texts, `members`
   * a list of ids, `tool` the name of a tool, `tools` those of an agent. The first of `choices` is the default, which is not saved.
   */
  input:
    | 'line'
    | 'template'
    | 'expression'
    | 'number'
    | 'object'
    | 'json'
    | 'names'
    | 'members'
    | 'flag'
    | 'tool'
    | 'tools'
    | 'choice';
  choices?: readonly { value: string; label: string }[];
  least?: number;
  most?: number;
  whole?: boolean;
}

/** Fields under a collapsible heading. */
export interface FieldGroup {
  label: string;
  fields: readonly NodeField[];
}

const outputKey: NodeField = {
  name: 'output_key',
  label: 'Output key',
  hint: 'State key for the output. Default: the node ID.',
  input: 'line',
};

const prompt: NodeField = { name: 'prompt', label: 'Prompt', input: 'template' };

const expression: NodeField = {
  name: 'expression',
  label: 'Expression',
  hint: 'Uses the state, like score >= 0.8 and not blocked',
  input: 'expression',
};

/** The fields that each kind always shows, after ID and label. */
export const mainFields: Record<NodeKind, readonly NodeField[]> = {
  agent: [
    {
      ...prompt,
      hint: 'Supports references like {ticket}. Leave empty to send the whole state as JSON.',
    },
    { name: 'system_prompt', label: 'System prompt', input: 'template' },
    { name: 'model', label: 'Model', hint: 'provider/model, or mock', input: 'line' },
    {
      name: 'fallback_models',
      label: 'Fallback models',
      hint: 'Tried in this order when a provider fails. Press Enter after each.',
      input: 'names',
    },
    outputKey,
  ],
  tool: [
    { name: 'tool_name', label: 'Tool', input: 'tool' },
    {
      name: 'params',
      label: 'Parameters',
      hint: 'A JSON object. Strings can contain references like {ticket}.',
      input: 'object',
    },
    outputKey,
  ],
  condition: [expression],
  loop: [
    { ...expression, hint: 'Repeats while true' },
    {
      name: 'max_iterations',
      label: 'Max iterations',
      hint: 'Default: 5',
      input: 'number',
      least: 1,
      most: 10_000,
      whole: true,
    },
  ],
  map: [
    {
      name: 'items',
      label: 'Items',
      hint: 'A list of the state, like order.lines. The body reads {<node ID>.item} and {<node ID>.index}.',
      input: 'expression',
    },
    {
      name: 'concurrency',
      label: 'Concurrency',
      hint: 'Items in progress at the same time. Default: 10',
      input: 'number',
      least: 1,
      most: 100,
      whole: true,
    },
    {
      name: 'on_item_error',
      label: 'When an item fails',
      input: 'choice',
      choices: [
        { value: 'fail', label: 'Fail the node' },
        { value: 'collect', label: 'Continue, with the error in the output' },
      ],
    },
    outputKey,
  ],
  workflow: [
    {
      name: 'workflow',
      label: 'Workflow',
      hint: 'Name or ID of the workflow to run',
      input: 'line',
    },
    {
      name: 'input',
      label: 'Input',
      hint: 'JSON of its input. Texts support references like {order.id}.',
      input: 'object',
    },
    {
      name: 'version',
      label: 'Version',
      hint: 'Default: the current version when the step starts',
      input: 'number',
      least: 1,
      whole: true,
    },
    outputKey,
  ],
  human_gate: [
    { ...prompt, hint: 'The question for the approver. Supports references like {draft}.' },
    {
      name: 'input_schema',
      label: 'Input schema',
      hint: 'JSON Schema of an object: the form that approvers fill in. Its keys are added to the run state.',
      input: 'object',
    },
  ],
  merge: [],
};

const seconds = { input: 'number', least: 0 } as const;

const retryFields: readonly NodeField[] = [
  {
    name: 'retry.max_attempts',
    label: 'Max attempts',
    hint: 'Default: 1',
    input: 'number',
    least: 1,
    most: 100,
    whole: true,
  },
  {
    name: 'retry.initial_interval_seconds',
    label: 'Initial retry delay (seconds)',
    hint: 'Default: 1',
    ...seconds,
    most: 3600,
  },
  {
    name: 'retry.backoff',
    label: 'Backoff multiplier',
    hint: 'Default: 2',
    input: 'number',
    least: 1,
    most: 10,
  },
];

const limits: FieldGroup = {
  label: 'Timeout and retries',
  fields: [
    {
      name: 'timeout_seconds',
      label: 'Timeout per attempt (seconds)',
      ...seconds,
      most: 604_800,
    },
    ...retryFields,
  ],
};

const retries: FieldGroup = { label: 'Retries', fields: retryFields };

const approval: FieldGroup = {
  label: 'Approvers',
  fields: [
    {
      name: 'approvers.roles',
      label: 'Roles that can decide',
      hint: 'Without roles and members, everyone with the approve_gates permission.',
      input: 'names',
      choices: roles.map((role) => ({ value: role, label: role })),
    },
    { name: 'approvers.members', label: 'Members who can decide', input: 'members' },
    {
      name: 'required',
      label: 'Required approvals',
      hint: 'Different members. One rejection rejects. Default: 1',
      input: 'number',
      least: 1,
      most: 5,
      whole: true,
    },
    { name: 'not_the_starter', label: 'Not by the member who started the run', input: 'flag' },
  ],
};

const MOST_SECONDS = 31_536_000;

const deadline: FieldGroup = {
  label: 'Deadline and reminders',
  fields: [
    { name: 'timeout_seconds', label: 'Timeout (seconds)', ...seconds, most: MOST_SECONDS },
    {
      name: 'on_timeout',
      label: 'After the timeout',
      input: 'choice',
      choices: [
        { value: '', label: '' },
        { value: 'reject', label: 'Reject' },
        { value: 'approve', label: 'Approve' },
        { value: 'fail', label: 'Fail the run' },
      ],
    },
    {
      name: 'remind_seconds',
      label: 'Remind every (seconds)',
      hint: 'Sends the alert of a paused run again.',
      input: 'number',
      least: 1,
      most: MOST_SECONDS,
    },
  ],
};

const answer: FieldGroup = {
  label: 'Response',
  fields: [
    {
      name: 'response_schema',
      label: 'Response schema',
      hint: 'JSON Schema of the response. The parsed object becomes the output.',
      input: 'object',
    },
    { name: 'temperature', label: 'Temperature', input: 'number', least: 0, most: 2 },
    {
      name: 'max_output_tokens',
      label: 'Max output tokens',
      input: 'number',
      least: 1,
      most: 10_000_000,
      whole: true,
    },
  ],
};

const tools: FieldGroup = {
  label: 'Tools',
  fields: [
    {
      name: 'tools',
      label: 'Tools',
      hint: 'The model calls them in turns until it answers.',
      input: 'tools',
    },
    {
      name: 'max_turns',
      label: 'Max turns',
      hint: 'Default: 10',
      input: 'number',
      least: 1,
      most: MAX_TURNS,
      whole: true,
    },
    {
      name: 'on_max_turns',
      label: 'After the last turn',
      input: 'choice',
      choices: [
        { value: 'fail', label: 'Fail the node' },
        { value: 'answer', label: 'Answer in one more turn, without tools' },
      ],
    },
    {
      name: 'tool_choice',
      label: 'Tool choice',
      input: 'choice',
      choices: [
        { value: 'auto', label: 'The model decides' },
        { value: 'required', label: 'The first turn must call a tool' },
      ],
    },
  ],
};

const mock: FieldGroup = {
  label: 'Mock model',
  fields: [
    {
      name: 'mock.output',
      label: 'Output',
      hint: 'Any JSON. Strings can contain references like {ticket}.',
      input: 'json',
    },
    {
      name: 'mock.cost_usd',
      label: 'Cost (USD)',
      input: 'number',
      least: 0,
      most: 1_000_000,
    },
    {
      name: 'mock.delay_ms',
      label: 'Delay (ms)',
      input: 'number',
      least: 0,
      most: 3_600_000,
      whole: true,
    },
    {
      name: 'mock.fail_times',
      label: 'Failures before success',
      input: 'number',
      least: 0,
      most: 1000,
      whole: true,
    },
    {
      name: 'mock.turns',
      label: 'Turns',
      hint: 'Of an agent with tools: a JSON list, like [{"calls": [{"tool": "json_transform", "arguments": {}}]}, {"output": "done"}]',
      input: 'json',
    },
  ],
};

/** The fields that each kind shows collapsed. */
export const moreFields: Record<NodeKind, readonly FieldGroup[]> = {
  agent: [tools, answer, mock, limits],
  tool: [limits],
  condition: [limits],
  loop: [limits],
  map: [limits],
  workflow: [retries],
  human_gate: [approval, deadline],
  merge: [limits],
};

/** The field of a path in a graph, like `params` for `nodes[3].params.url`; undefined outside of nodes. */
export function fieldAt(path: string | undefined, kind: NodeKind): string | undefined {
  const inNode = /^nodes\[\d+\]\.(.+)$/.exec(path ?? '')?.[1];
  if (inNode === undefined) return undefined;
  const names = ['id', 'label', ...fieldsOf(kind).map(({ name }) => name)];
  return names.find(
    (name) => inNode === name || inNode.startsWith(`${name}.`) || inNode.startsWith(`${name}[`),
  );
}

export const fieldsOf = (kind: NodeKind): NodeField[] => [
  ...mainFields[kind],
  ...moreFields[kind].flatMap(({ fields }) => fields),
];
