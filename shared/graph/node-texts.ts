import type { Json, JsonObject } from '#shared/json.ts';
import type { AgentNode, GraphNode, WaitNode } from '#shared/contract/workflows/graph.ts';
import { parseExpression } from './expression/expression.ts';
import { parseTemplate, templateReads } from './expression/template.ts';
import { isObject } from './json-value.ts';
import type { ApprovedNode } from './node-approval.ts';
import { agentToolsOf } from './node-tools.ts';
import { sendsCallbacks } from '#shared/values/callbacks.ts';
import { CONNECTIONS, isConnectionPath, secretParamsOf, SECRETS } from '#shared/values/secrets.ts';
import { EVENT } from './waits/wait-call.ts';

export interface NodeText {
  language: 'expression' | 'template';
  text: string;
  /** The path within the node, like `params.body.items[0]`. */
  path: string;
  /** Names that it can read besides keys of the state. */
  locals?: readonly string[];
  /** Whether it can contain secrets. */
  secrets?: true;
  /** Whether it can contain addresses of callbacks. */
  callbacks?: true;
  /** The only name that it can read. */
  only?: string;
}

/** A top-level key of the state that a text reads, and the offset of its first use in the text. */
export interface RootRead {
  key: string;
  position: number;
}

/** The top-level keys of the state that a text reads, each once. Throws ExpressionError when it does not parse. */
export function textReads({ language, text, locals = [] }: NodeText): RootRead[] {
  const reads = language === 'template' ? templateReads(text) : expressionReads(text);
  return reads.filter(({ key }) => !locals.includes(key));
}

function expressionReads(source: string): RootRead[] {
  const { roots, positions } = parseExpression(source);
  return roots.map((key, at) => ({ key, position: positions[at]! }));
}

/**
 * All texts of a node that are evaluated over the state. Texts in a tool's params are templates, except for the
 * expression of `json_transform`.
 */
export function nodeTexts(node: GraphNode): NodeText[] {
  switch (node.kind) {
    case 'agent': {
      const { system_prompt, prompt } = node;
      const prompts = [...textsIn(system_prompt, 'system_prompt'), ...textsIn(prompt, 'prompt')];
      return [...prompts, ...offerTexts(node), ...mockTexts(node)];
    }
    case 'tool': {
      const texts = [...paramTexts(node.tool_name, node.params, 'params'), ...approvalTexts(node)];
      if (node.tool_name !== 'json_transform') return texts;
      return texts.map((text) =>
        text.path === 'params.expression' ? { ...text, language: 'expression' } : text,
      );
    }
    case 'condition':
    case 'loop':
      return [{ language: 'expression', text: node.expression, path: 'expression' }];
    case 'map':
      return [{ language: 'expression', text: node.items, path: 'items' }];
    case 'workflow':
      return [...textsIn(node.input, 'input'), ...approvalTexts(node)];
    case 'human_gate':
      return [...textsIn(node.prompt, 'prompt'), ...textsIn(node.title, 'title')];
    case 'wait':
      return waitTexts(node);
    case 'code':
    case 'merge':
      return [];
  }
}

function waitTexts({ seconds, until, event, any = [] }: WaitNode): NodeText[] {
  const matches = [
    { awaited: event, path: 'event' },
    ...any.map((awaited, at) => ({ awaited, path: `any[${at}]` })),
  ];
  return [
    ...textsIn(seconds, 'seconds'),
    ...textsIn(until, 'until'),
    ...matches.flatMap(({ awaited, path }): NodeText[] =>
      awaited?.match === undefined
        ? []
        : [{ language: 'expression', text: awaited.match, path: `${path}.match`, locals: [EVENT] }],
    ),
  ];
}

/** The texts of the tools that an agent offers. */
function offerTexts(node: AgentNode): NodeText[] {
  return agentToolsOf(node).flatMap(
    ({ name, approval = 'never', title, fixed = {} }, at): NodeText[] => [
      ...approvalText(approval, `tools[${at}].approval`),
      ...titleText(title, `tools[${at}].title`),
      ...paramTexts(name, fixed, `tools[${at}].fixed`),
    ],
  );
}

function approvalTexts({ approval = 'never' }: ApprovedNode): NodeText[] {
  return typeof approval === 'string'
    ? approvalText(approval, 'approval')
    : [
        ...approvalText(approval.when, 'approval.when'),
        ...titleText(approval.title, 'approval.title'),
      ];
}

/** The title of a call only reads its arguments: they are what the digest of the call covers. */
const titleText = (title: string | undefined, path: string): NodeText[] =>
  textsIn(title, path).map((text): NodeText => ({ ...text, locals: ['args'], only: 'args' }));

const approvalText = (text: string, path: string): NodeText[] =>
  text === 'always' || text === 'never'
    ? []
    : [{ language: 'expression', text, path, locals: ['args'] }];

/** The texts of a tool's parameters. Some of them can contain secrets and addresses of callbacks. */
function paramTexts(tool: string, params: JsonObject, path: string): NodeText[] {
  const allowed = secretParamsOf(tool);
  return Object.entries(params).flatMap(([key, value]) => {
    const callbacks = sendsCallbacks(tool, key) ? { callbacks: true as const } : {};
    const texts = textsIn(value, `${path}.${key}`);
    if (!allowed.includes(key)) return texts.map((text): NodeText => ({ ...text, ...callbacks }));
    return texts.map((text): NodeText => {
      const locals = readsConnections(text.text) ? [SECRETS] : [SECRETS, CONNECTIONS];
      return { ...text, ...callbacks, locals, secrets: true };
    });
  });
}

/** Whether a template reads the key `connections` of the state: some references are not to a connection. */
const readsConnections = (template: string): boolean =>
  parseTemplate(template).parts.some(
    (part) =>
      typeof part === 'object' && part.path[0] === CONNECTIONS && !isConnectionPath(part.path),
  );

function mockTexts({ mock }: AgentNode): NodeText[] {
  return (mock?.turns ?? []).flatMap(({ calls = [] }, turn) =>
    calls.flatMap((call, at) =>
      textsIn(call.arguments, `mock.turns[${turn}].calls[${at}].arguments`),
    ),
  );
}

/** The outputs of the mock model, which are also templates. */
export const mockOutputTexts = ({ mock }: AgentNode): NodeText[] => [
  ...textsIn(mock?.output, 'mock.output'),
  ...(mock?.turns ?? []).flatMap(({ output }, turn) =>
    textsIn(output, `mock.turns[${turn}].output`),
  ),
];

function textsIn(value: Json | undefined, path: string): NodeText[] {
  if (typeof value === 'string') return [{ language: 'template', text: value, path }];
  if (Array.isArray(value)) return value.flatMap((item, at) => textsIn(item, `${path}[${at}]`));
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([key, item]) => textsIn(item, `${path}.${key}`));
}
