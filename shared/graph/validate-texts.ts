import type { Graph, GraphNode } from '../contract/graph.ts';
import { ExpressionError, expressionRoots } from './expression.ts';
import type { Issues } from './issues.ts';
import { nodeTexts, type NodeText } from './node-texts.ts';
import { parseTemplate, templateRoots } from './template.ts';
import { customToolName, renderUrl } from '../tools.ts';
import type { Unreadable, ValidationContext } from './validate.ts';

/** A top-level key that a node reads, with the place it does so. */
export interface KeyRead {
  node: number;
  key: string;
  path: string;
}

/** Checks tools, expressions and templates, and returns the keys that those that parse read. */
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
    if (!context.tools.has(name)) {
      issues.error('unknown_tool', `Node '${id}': there is no tool '${name}'`, place);
    }
  } else if (!context.customTools.has(customName)) {
    issues.error(
      'unknown_custom_tool',
      `Node '${id}': the custom tool '${name}' is not registered`,
      place,
    );
  }
}

/** The parameter of a tool that says where its headers are sent. */
const ADDRESSES: Readonly<Record<string, string>> = { http_request: 'url', mcp: 'server_url' };

/** What a run works on must not decide to whom the node's headers go, since they may hold a credential. */
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
