import { roles } from '#shared/people/capabilities.ts';
import { MAX_CODE_SECONDS } from '#shared/contract/workflows/code-node.ts';
import { MAX_TURNS } from '#shared/contract/workflows/agent-node.ts';
import type { NodeKind } from '#shared/contract/workflows/graph.ts';
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
   * `template` is a text with references, `expression` an expression over the state, `schema` the JSON Schema of an object, `names` a list of texts, `members`
   * a list of ids, `workflow` a name or an id, `version` one of that workflow's version numbers, `model` the
   * name of a model, `models` several, `tool` the name of a tool, `params` its parameters, `tools` an agent's tools, `approval` whether steps need approval, `recheck` a gate's, `code` a source. The first of `choices` is the default, which is not saved.
   */
  input:
    | 'line'
    | 'template'
    | 'expression'
    | 'number'
    | 'object'
    | 'json'
    | 'schema'
    | 'params'
    | 'names'
    | 'members'
    | 'workflow'
    | 'version'
    | 'flag'
    | 'model'
    | 'models'
    | 'tool'
    | 'tools'
    | 'approval'
    | 'recheck'
    | 'code'
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

/** A number from `least` to `most`; `wholeFrom` is for whole numbers. */
const numberFrom = (least: number, most: number) => ({ input: 'number', least, most }) as const;
export const wholeFrom = (least: number, most: number) => ({
  ...numberFrom(least, most),
  whole: true,
});

/** A choice between the values that these messages name. */
const choiceOf = (labels: Record<string, string>) => ({
  input: 'choice' as const,
  choices: Object.entries(labels).map(([value, label]) => ({ value, label })),
});

const MOST_SECONDS = 31_536_000;

const outputKey: NodeField = { name: 'output_key', ...text.outputKey, input: 'line' };

const prompt = { name: 'prompt', input: 'template' } as const;

const expression: NodeField = { name: 'expression', ...text.expression, input: 'expression' };

/** The fields that each kind always shows, after ID and label. */
export const mainFields: Record<NodeKind, readonly NodeField[]> = {
  agent: [
    { ...prompt, ...text.agentPrompt },
    { name: 'system_prompt', ...text.systemPrompt, input: 'template' },
    { name: 'model', ...text.model, input: 'model' },
    { name: 'fallback_models', ...text.fallbackModels, input: 'models' },
    outputKey,
  ],
  tool: [
    { name: 'tool_name', ...text.tool, input: 'tool' },
    { name: 'params', ...text.params, input: 'params', templates: true },
    outputKey,
  ],
  code: [
    { name: 'source', ...text.source, input: 'code' },
    { name: 'language', ...text.language, ...choiceOf(text.languageChoices) },
    outputKey,
  ],
  condition: [expression],
  loop: [
    { ...expression, ...text.loopExpression },
    { name: 'max_iterations', ...text.maxIterations, ...wholeFrom(1, 10_000) },
  ],
  map: [
    { name: 'items', ...text.items, input: 'expression' },
    { name: 'concurrency', ...text.concurrency, ...wholeFrom(1, 100) },
    { name: 'on_item_error', ...text.onItemError, ...choiceOf(text.onItemErrorChoices) },
    outputKey,
  ],
  workflow: [
    { name: 'workflow', ...text.workflow, input: 'workflow' },
    { name: 'input', ...text.workflowInput, input: 'params', templates: true },
    { name: 'version', ...text.workflowVersion, input: 'version' },
    outputKey,
  ],
  human_gate: [
    { name: 'title', ...text.gateTitle, input: 'template' },
    { ...prompt, ...text.gatePrompt },
    { name: 'input_schema', ...text.gateInputSchema, input: 'schema' },
  ],
  wait: [
    { name: 'seconds', ...text.waitSeconds, input: 'template' },
    { name: 'until', ...text.waitUntil, input: 'template' },
    { name: 'event.name', ...text.waitEvent, input: 'line' },
    { name: 'event.match', ...text.waitMatch, input: 'expression', locals: ['event'] },
    { name: 'any', ...text.waitAny, input: 'json' },
    { name: 'callback', ...text.waitCallback, input: 'flag' },
    { name: 'remind_seconds', ...text.waitRemind, ...numberFrom(1, MOST_SECONDS) },
    { name: 'timeout_seconds', ...text.waitTimeout, ...numberFrom(0, MOST_SECONDS) },
    {
      name: 'on_timeout',
      ...text.waitOnTimeout,
      ...choiceOf({ '': '', ...text.waitOnTimeoutChoices }),
    },
    outputKey,
  ],
  merge: [],
};

const retryFields: readonly NodeField[] = [
  { name: 'retry.max_attempts', ...more.maxAttempts, ...wholeFrom(1, 100) },
  { name: 'retry.initial_interval_seconds', ...more.initialInterval, ...numberFrom(0, 3600) },
  { name: 'retry.backoff', ...more.backoff, ...numberFrom(1, 10) },
];

const limits: FieldGroup = {
  label: more.groups.limits,
  fields: [
    { name: 'timeout_seconds', ...more.timeoutPerAttempt, ...numberFrom(0, 604_800) },
    ...retryFields,
  ],
};

const codeLimits: FieldGroup = {
  label: more.groups.limits,
  fields: [
    { name: 'timeout_seconds', ...more.codeTimeout, ...numberFrom(0, MAX_CODE_SECONDS) },
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
    { name: 'required', ...more.required, ...wholeFrom(1, 5) },
    { name: 'not_the_starter', ...more.notTheStarter, input: 'flag' },
    { name: 'signed_in', ...more.signedIn, input: 'flag' },
  ],
};

const deadline: FieldGroup = {
  label: more.groups.deadline,
  fields: [
    { name: 'timeout_seconds', ...more.timeout, ...numberFrom(0, MOST_SECONDS) },
    { name: 'on_timeout', ...more.onTimeout, ...choiceOf({ '': '', ...more.onTimeoutChoices }) },
    { name: 'remind_seconds', ...more.remind, ...numberFrom(1, MOST_SECONDS) },
  ],
};

/** The title of a call or step, which only reads its arguments. */
export const callTitle: NodeField = {
  name: 'title',
  ...more.callTitle,
  input: 'template',
  locals: ['args'],
};

/** What is required of the approvers of a step that needs approval. */
export const askingFields: readonly NodeField[] = [
  callTitle,
  ...approval.fields,
  ...deadline.fields,
];

const stepApproval: FieldGroup = {
  label: more.groups.stepApproval,
  fields: [{ name: 'approval', ...more.stepApproval, input: 'approval' }],
};

const toolApproval: FieldGroup = {
  ...stepApproval,
  fields: [
    ...stepApproval.fields,
    { name: 'act_as', ...more.actAs, ...choiceOf(more.actAsChoices) },
  ],
};

const covered: FieldGroup = {
  label: more.groups.covered,
  fields: [
    { name: 'recheck', ...more.recheck, input: 'recheck' },
    { name: 'covers', ...more.covers, ...choiceOf(more.coversChoices) },
  ],
};

const answer: FieldGroup = {
  label: more.groups.answer,
  fields: [
    { name: 'response_schema', ...more.responseSchema, input: 'schema' },
    { name: 'temperature', ...more.temperature, ...numberFrom(0, 2) },
    { name: 'max_output_tokens', ...more.maxOutputTokens, ...wholeFrom(1, 10_000_000) },
  ],
};

const tools: FieldGroup = {
  label: more.groups.tools,
  fields: [
    { name: 'tools', ...more.tools, input: 'tools' },
    { name: 'max_turns', ...more.maxTurns, ...wholeFrom(1, MAX_TURNS) },
    { name: 'on_max_turns', ...more.onMaxTurns, ...choiceOf(more.onMaxTurnsChoices) },
    { name: 'tool_choice', ...more.toolChoice, ...choiceOf(more.toolChoices) },
  ],
};

const mock: FieldGroup = {
  label: more.groups.mock,
  fields: [
    { name: 'mock.output', ...more.mockOutput, input: 'json', templates: true },
    { name: 'mock.cost_usd', ...more.mockCost, ...numberFrom(0, 1_000_000) },
    { name: 'mock.delay_ms', ...more.mockDelay, ...wholeFrom(0, 3_600_000) },
    { name: 'mock.fail_times', ...more.mockFailures, ...wholeFrom(0, 1000) },
    { name: 'mock.turns', ...more.mockTurns, input: 'json' },
  ],
};

/** The fields that each kind shows collapsed. */
export const moreFields: Record<NodeKind, readonly FieldGroup[]> = {
  agent: [tools, answer, mock, limits],
  tool: [toolApproval, limits],
  code: [codeLimits],
  condition: [limits],
  loop: [limits],
  map: [limits],
  workflow: [stepApproval, retries],
  human_gate: [approval, deadline, covered],
  wait: [],
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
