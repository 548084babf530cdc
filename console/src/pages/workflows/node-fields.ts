import type { NodeKind } from '../../../../shared/contract/graph.ts';

/** One field of a node's form. */
export interface NodeField {
  /** Its path in the node. */
  name: string;
  label: string;
  hint?: string;
  /**
   * `template` is a text with references, `expression` what is computed over the state, `names` a list of texts, `tool`
   * the name of one.
   */
  input: 'line' | 'template' | 'expression' | 'number' | 'object' | 'json' | 'names' | 'tool';
  least?: number;
  most?: number;
  whole?: boolean;
}

/** Fields under a heading that can be folded away. */
export interface FieldGroup {
  label: string;
  fields: readonly NodeField[];
}

const outputKey: NodeField = {
  name: 'output_key',
  label: 'Output key',
  hint: 'Where in the state the output goes. Without one it is the node’s id.',
  input: 'line',
};

const prompt: NodeField = { name: 'prompt', label: 'Prompt', input: 'template' };

const expression: NodeField = {
  name: 'expression',
  label: 'Expression',
  hint: 'Over the state, like score >= 0.8 and not blocked',
  input: 'expression',
};

/** What the form of each kind shows at once. Id and label stand before it. */
export const mainFields: Record<NodeKind, readonly NodeField[]> = {
  agent: [
    { ...prompt, hint: 'With references like {ticket}. Empty: the whole state as JSON.' },
    { name: 'system_prompt', label: 'System prompt', input: 'template' },
    { name: 'model', label: 'Model', hint: 'provider/model, or mock', input: 'line' },
    {
      name: 'fallback_models',
      label: 'Fallback models',
      hint: 'Asked in this order when a provider fails. Enter adds one.',
      input: 'names',
    },
    outputKey,
  ],
  tool: [
    { name: 'tool_name', label: 'Tool', input: 'tool' },
    {
      name: 'params',
      label: 'Parameters',
      hint: 'A JSON object. Texts in it are templates.',
      input: 'object',
    },
    outputKey,
  ],
  condition: [expression],
  loop: [
    { ...expression, hint: 'Goes round while it holds' },
    {
      name: 'max_iterations',
      label: 'Most rounds',
      hint: '5 unless given',
      input: 'number',
      least: 1,
      most: 10_000,
      whole: true,
    },
  ],
  human_gate: [{ ...prompt, hint: 'What the approver is asked. With references like {draft}.' }],
  merge: [],
};

const seconds = { input: 'number', least: 0 } as const;

const limits: FieldGroup = {
  label: 'Time and tries',
  fields: [
    {
      name: 'timeout_seconds',
      label: 'Timeout of an attempt, seconds',
      ...seconds,
      most: 604_800,
    },
    {
      name: 'retry.max_attempts',
      label: 'Tries',
      hint: '1 unless given',
      input: 'number',
      least: 1,
      most: 100,
      whole: true,
    },
    {
      name: 'retry.initial_interval_seconds',
      label: 'Pause before the second try, seconds',
      hint: '1 unless given',
      ...seconds,
      most: 3600,
    },
    {
      name: 'retry.backoff',
      label: 'Each pause is longer by',
      hint: 'A factor, 2 unless given',
      input: 'number',
      least: 1,
      most: 10,
    },
  ],
};

const answer: FieldGroup = {
  label: 'Answer',
  fields: [
    {
      name: 'response_schema',
      label: 'Response schema',
      hint: 'JSON Schema of the answer. The parsed object becomes the output.',
      input: 'object',
    },
    { name: 'temperature', label: 'Temperature', input: 'number', least: 0, most: 2 },
    {
      name: 'max_output_tokens',
      label: 'Most output tokens',
      input: 'number',
      least: 1,
      most: 10_000_000,
      whole: true,
    },
  ],
};

const mock: FieldGroup = {
  label: 'Mock model',
  fields: [
    {
      name: 'mock.output',
      label: 'What it answers',
      hint: 'Any JSON. Texts in it are templates.',
      input: 'json',
    },
    {
      name: 'mock.cost_usd',
      label: 'What it costs, dollars',
      input: 'number',
      least: 0,
      most: 1_000_000,
    },
    {
      name: 'mock.delay_ms',
      label: 'How long it takes, milliseconds',
      input: 'number',
      least: 0,
      most: 3_600_000,
      whole: true,
    },
    {
      name: 'mock.fail_times',
      label: 'Fails this often first',
      input: 'number',
      least: 0,
      most: 1000,
      whole: true,
    },
  ],
};

/** What the form of each kind keeps folded. */
export const moreFields: Record<NodeKind, readonly FieldGroup[]> = {
  agent: [answer, mock, limits],
  tool: [limits],
  condition: [limits],
  loop: [limits],
  human_gate: [limits],
  merge: [limits],
};

/** The field that a place in a graph is in, like `params` for `nodes[3].params.url`; undefined outside of nodes. */
export function fieldAt(path: string | undefined, kind: NodeKind): string | undefined {
  const inNode = /^nodes\[\d+\]\.(.+)$/.exec(path ?? '')?.[1];
  if (inNode === undefined) return undefined;
  const names = ['id', 'label', ...fieldsOf(kind).map(({ name }) => name)];
  return names.find(
    (name) => inNode === name || inNode.startsWith(`${name}.`) || inNode.startsWith(`${name}[`),
  );
}

/** All fields of a kind. */
export const fieldsOf = (kind: NodeKind): NodeField[] => [
  ...mainFields[kind],
  ...moreFields[kind].flatMap(({ fields }) => fields),
];
