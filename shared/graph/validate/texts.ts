import type { Graph, GraphNode, ToolNode } from '../../contract/graph.ts';
import { ExpressionError, expressionRoots } from '../expression/expression.ts';
import type { Issues } from '../issues.ts';
import { nodeTexts, type NodeText } from '../node-texts.ts';
import { hint } from '../suggest.ts';
import { parseTemplate, templateRoots } from '../expression/template.ts';
import {
  type BuiltinTool,
  customToolName,
  renderUrl,
  type ToolParams,
  toolParams,
} from '../../tools.ts';
import type { Unreadable, ValidationContext } from './validate.ts';

/** A top-level key that a node reads, and where. */
export interface KeyRead {
  node: number;
  key: string;
  path: string;
}

/** Checks tools, expressions and templates. Returns the keys that the valid ones read. */
export function checkTexts(
  issues: Issues,
  graph: Graph,
  context: ValidationContext,
  unreadable: Unreadable,
): KeyRead[] {
  const reads: KeyRead[] = [];
  graph.nodes.forEach((node, at) => {
    if (unreadable.has(at)) return;
    checkTool(issues, node, at, context);
    checkAddress(issues, node, at);
    checkModels(issues, node, at, context);
    for (const text of nodeTexts(node)) {
      const path = `nodes[${at}].${text.path}`;
      for (const key of checkText(issues, node, text, path)) reads.push({ node: at, key, path });
    }
  });
  return reads;
}

function checkTool(issues: Issues, node: GraphNode, at: number, context: ValidationContext): void {
  if (node.kind !== 'tool') return;
  const { tool_name: name, id } = node;
  const place = { node_id: id, path: `nodes[${at}].tool_name` };
  const customName = customToolName(name);
  if (customName === undefined) {
    if (context.tools.has(name)) checkParams(issues, node, at);
    else {
      const message = `Node '${id}': there is no tool '${name}'${hint(name, context.tools)}`;
      issues.error('unknown_tool', message, place);
    }
  } else if (!context.customTools.has(customName)) {
    issues.error(
      'unknown_custom_tool',
      `Node '${id}': the custom tool '${name}' is not registered`,
      place,
    );
  }
}

/** Parameters that a built-in tool would refuse at run time: missing and unknown ones. */
function checkParams(issues: Issues, { id, tool_name: name, params }: ToolNode, at: number): void {
  if (!Object.hasOwn(toolParams, name)) return;
  const { required, optional }: ToolParams = toolParams[name as BuiltinTool];
  for (const each of required) {
    const names = [each].flat();
    if (names.some((param) => Object.hasOwn(params, param))) continue;
    const needed = names.map((param) => `'${param}'`).join(' or ');
    const message = `Node '${id}': ${name} needs the parameter ${needed}`;
    issues.error('missing_param', message, { node_id: id, path: `nodes[${at}].params` });
  }
  const known = [...required.flat(), ...optional];
  for (const param of Object.keys(params)) {
    if (known.includes(param)) continue;
    const message = `Node '${id}': ${name} has no parameter '${param}'${hint(param, known)}`;
    issues.error('unknown_param', message, { node_id: id, path: `nodes[${at}].params.${param}` });
  }
}

/** A model without an API key is only a warning, since the worker that runs the step may have one. */
function checkModels(
  issues: Issues,
  node: GraphNode,
  at: number,
  context: ValidationContext,
): void {
  const { unavailableProviders = {} } = context;
  if (node.kind !== 'agent') return;
  const places = [
    { model: node.model, path: 'model' },
    ...(node.fallback_models ?? []).map((model, place) => ({
      model,
      path: `fallback_models[${place}]`,
    })),
  ];
  for (const { model, path } of places) {
    const provider = model.split('/', 1)[0] ?? '';
    if (!Object.hasOwn(unavailableProviders, provider)) continue;
    const message = `Node '${node.id}': ${unavailableProviders[provider]!}`;
    issues.warning('model_not_available', message, {
      node_id: node.id,
      path: `nodes[${at}].${path}`,
    });
  }
}

/** The parameter of a tool that determines where its headers are sent. */
const ADDRESSES: Readonly<Record<string, string>> = { http_request: 'url', mcp: 'server_url' };

/** Data of a run must not determine the recipient of headers, since these can contain a credential. */
function checkAddress(issues: Issues, node: GraphNode, at: number): void {
  if (node.kind !== 'tool' || !Object.hasOwn(ADDRESSES, node.tool_name)) return;
  const param = ADDRESSES[node.tool_name]!;
  const text = node.params[param];
  if (typeof text !== 'string') return;
  const parts = parseTemplate(text).parts.map((part) =>
    typeof part === 'string' ? { text: part } : { value: 'x' },
  );
  const rendered = renderUrl(parts);
  if (!('error' in rendered)) return;
  issues.error('host_is_a_reference', `Node '${node.id}': ${rendered.error}`, {
    node_id: node.id,
    path: `nodes[${at}].params.${param}`,
  });
}

function checkText(
  issues: Issues,
  node: GraphNode,
  { language, text }: NodeText,
  path: string,
): string[] {
  if (language === 'template') {
    for (const { text: braces, position } of parseTemplate(text).doubtful) {
      const message = `Node '${node.id}': ${JSON.stringify(braces)} at position ${position} is no reference and stays as written`;
      issues.warning('template_not_a_reference', message, { node_id: node.id, path, position });
    }
    return templateRoots(text);
  }
  try {
    return expressionRoots(text);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    const place = { node_id: node.id, path, position: error.position };
    issues.error('expression_invalid', `Node '${node.id}': ${error.message}`, place);
    return [];
  }
}
