import { roles } from '#shared/people/capabilities.ts';
import { MAX_TURNS, type NodeKind } from '#shared/contract/workflows/graph.ts';
import {
  moreNodeFields as more,
  nodeFields as text,
} from '#console/src/messages/en/workflows/node-fields.ts';

/** One field of a node's form. */
export interface NodeField {
  /** Its path in the node. */
  name: string;
  label: string;
  hint?: string;
  /**
   * `template` is a text with references, `expression` an expression over the state, `names` a list of texts, `members`
   * a list of ids, `workflow` a name or an id, `version` one of that workflow's version numbers, `tool` the name of a
   * tool, `params` its parameters, `tools` an agent's tools. The first of `choices` is the default, which is not saved.
   */
  input:
    | 'line'
    | 'template'
    | 'expression'
    | 'number'
    | 'object'
    | 'json'
    | 'params'
    | 'names'
    | 'members'
    | 'workflow'
    | 'version'
    | 'flag'
    | 'tool'
    | 'tools'
    | 'choice';
  choices?: readonly { value: string; label: string }[];
  least?: number;
  most?: number;
  whole?: boolean;
  /** Whether strings in its JSON are templates over the state. */
  templates?: boolean;
  /** Names that its expression reads in addition to the state, so that it has no value before the node runs. */
  locals?: readonly string[];
}

/** Fields under a collapsible heading. */
export interface FieldGroup {
  label: string;
  fields: readonly NodeField[];
}

const outputKey: NodeField = {
  name: 'output_key',
  ...text.outputKey,
  input: 'line',
};

const prompt = { name: 'prompt', input: 'template' } as const;

const expression: NodeField = {
  name: 'expression',
  ...text.expression,
  input: 'expression',
};

/** The fields that each kind always shows, after ID and label. */
export const mainFields: Record<NodeKind, readonly NodeField[]> = {
  agent: [
    { ...prompt, ...text.agentPrompt },
    { name: 'system_prompt', ...text.systemPrompt, input: 'template' },
    { name: 'model', ...text.model, input: 'line' },
    {
      name: 'fallback_models',
      ...text.fallbackModels,
      input: 'names',
    },
    outputKey,
  ],
  tool: [
    { name: 'tool_name', ...text.tool, input: 'tool' },
    {
      name: 'params',
      ...text.params,
      input: 'params',
      templates: true,
    },
    outputKey,
  ],
  condition: [expression],
  loop: [
    { ...expression, ...text.loopExpression },
    {
      name: 'max_iterations',
      ...text.maxIterations,
      input: 'number',
      least: 1,
      most: 10_000,
      whole: true,
    },
  ],
  map: [
    {
      name: 'items',
      ...text.items,
      input: 'expression',
    },
    {
      name: 'concurrency',
      ...text.concurrency,
      input: 'number',
      least: 1,
      most: 100,
      whole: true,
    },
    {
      name: 'on_item_error',
      ...text.onItemError,
      input: 'choice',
      choices: [
        { value: 'fail', label: text.onItemErrorChoices.fail },
        { value: 'collect', label: text.onItemErrorChoices.collect },
      ],
    },
    outputKey,
  ],
  workflow: [
    {
      name: 'workflow',
      ...text.workflow,
      input: 'workflow',
    },
    {
      name: 'input',
      ...text.workflowInput,
      input: 'object',
      templates: true,
    },
    {
      name: 'version',
      ...text.workflowVersion,
      input: 'version',
    },
    outputKey,
  ],
  human_gate: [
    { ...prompt, ...text.gatePrompt },
    {
      name: 'input_schema',
      ...text.gateInputSchema,
      input: 'object',
    },
  ],
  merge: [],
};

const seconds = { input: 'number', least: 0 } as const;

const retryFields: readonly NodeField[] = [
  {
    name: 'retry.max_attempts',
    ...more.maxAttempts,
    input: 'number',
    least: 1,
    most: 100,
    whole: true,
  },
  {
    name: 'retry.initial_interval_seconds',
    ...more.initialInterval,
    ...seconds,
    most: 3600,
  },
  {
    name: 'retry.backoff',
    ...more.backoff,
    input: 'number',
    least: 1,
    most: 10,
  },
];

const limits: FieldGroup = {
  label: more.groups.limits,
  fields: [
    {
      name: 'timeout_seconds',
      ...more.timeoutPerAttempt,
      ...seconds,
      most: 604_800,
    },
    ...retryFields,
  ],
};

const retries: FieldGroup = { label: more.groups.retries, fields: retryFields };

const approval: FieldGroup = {
  label: more.groups.approval,
  fields: [
    {
      name: 'approvers.roles',
      ...more.approverRoles,
      input: 'names',
      choices: roles.map((role) => ({ value: role, label: role })),
    },
    { name: 'approvers.members', ...more.approverMembers, input: 'members' },
    {
      name: 'required',
      ...more.required,
      input: 'number',
      least: 1,
      most: 5,
      whole: true,
    },
    { name: 'not_the_starter', ...more.notTheStarter, input: 'flag' },
  ],
};

const MOST_SECONDS = 31_536_000;

const deadline: FieldGroup = {
  label: more.groups.deadline,
  fields: [
    { name: 'timeout_seconds', ...more.timeout, ...seconds, most: MOST_SECONDS },
    {
      name: 'on_timeout',
      ...more.onTimeout,
      input: 'choice',
      choices: [
        { value: '', label: '' },
        { value: 'reject', label: more.onTimeoutChoices.reject },
        { value: 'approve', label: more.onTimeoutChoices.approve },
        { value: 'fail', label: more.onTimeoutChoices.fail },
      ],
    },
    {
      name: 'remind_seconds',
      ...more.remind,
      input: 'number',
      least: 1,
      most: MOST_SECONDS,
    },
  ],
};

const answer: FieldGroup = {
  label: more.groups.answer,
  fields: [
    {
      name: 'response_schema',
      ...more.responseSchema,
      input: 'object',
    },
    { name: 'temperature', ...more.temperature, input: 'number', least: 0, most: 2 },
    {
      name: 'max_output_tokens',
      ...more.maxOutputTokens,
      input: 'number',
      least: 1,
      most: 10_000_000,
      whole: true,
    },
  ],
};

const tools: FieldGroup = {
  label: more.groups.tools,
  fields: [
    {
      name: 'tools',
      ...more.tools,
      input: 'tools',
    },
    {
      name: 'max_turns',
      ...more.maxTurns,
      input: 'number',
      least: 1,
      most: MAX_TURNS,
      whole: true,
    },
    {
      name: 'on_max_turns',
      ...more.onMaxTurns,
      input: 'choice',
      choices: [
        { value: 'fail', label: more.onMaxTurnsChoices.fail },
        { value: 'answer', label: more.onMaxTurnsChoices.answer },
      ],
    },
    {
      name: 'tool_choice',
      ...more.toolChoice,
      input: 'choice',
      choices: [
        { value: 'auto', label: more.toolChoices.auto },
        { value: 'required', label: more.toolChoices.required },
      ],
    },
  ],
};

const mock: FieldGroup = {
  label: more.groups.mock,
  fields: [
    {
      name: 'mock.output',
      ...more.mockOutput,
      input: 'json',
      templates: true,
    },
    {
      name: 'mock.cost_usd',
      ...more.mockCost,
      input: 'number',
      least: 0,
      most: 1_000_000,
    },
    {
      name: 'mock.delay_ms',
      ...more.mockDelay,
      input: 'number',
      least: 0,
      most: 3_600_000,
      whole: true,
    },
    {
      name: 'mock.fail_times',
      ...more.mockFailures,
      input: 'number',
      least: 0,
      most: 1000,
      whole: true,
    },
    {
      name: 'mock.turns',
      ...more.mockTurns,
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

/** The field at a path in a graph, like `params` for `nodes[3].params.url`; undefined outside nodes. */
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
